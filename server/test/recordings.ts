/**
 * Traffic in the wire form of every provider, for tests. What lies in `fixtures/` is the project's own: short answers with
 * the features that the providers' answers have. Where longer recordings of real traffic lie at `../shared/fixtures` beside
 * the checkout, they are played as well.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ProtocolId } from '../src/core/catalogue.ts'
import { parseJson } from '../src/core/canonical/json-text.ts'
import { type JsonValue, isJsonObject } from '../src/core/json.ts'
import type { SseEvent } from '../src/core/protocols/protocol.ts'

export type Recording = WholeRecording | StreamRecording

export interface WholeRecording {
  readonly kind: 'whole'
  readonly name: string
  readonly body: JsonValue
}

export interface StreamRecording {
  readonly kind: 'stream'
  readonly name: string
  readonly events: readonly SseEvent[]
}

/** What their names begin with, so that no two are called the same; the project's own first. */
const ROOTS = [
  { prefix: '', folder: fileURLToPath(new URL('fixtures/', import.meta.url)) },
  { prefix: 'shared/', folder: fileURLToPath(new URL('../../../shared/fixtures/', import.meta.url)) },
].filter(({ folder }) => existsSync(folder))

const FOLDERS: Readonly<Record<ProtocolId, readonly string[]>> = {
  messages: ['anthropic'],
  gemini: ['google'],
  chat: 'alibaba deepseek/chat groq mistral moonshotai openai-compatible/chat openai/chat perplexity xai'.split(
    ' ',
  ),
  responses: ['openai/responses', 'azure', 'xai/responses', 'open-responses/responses'],
}

/** A whole answer (`.json`), the events of streams (`.chunks.txt`), or a stream with its framing (`.sse`). */
export interface RecordingFile {
  readonly name: string
  /** Below its root: the vendor's folder, then the file. */
  readonly path: string
  readonly text: string
}

export function recordingFiles(): readonly RecordingFile[] {
  return ROOTS.flatMap(({ prefix, folder }) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(?:json|chunks\.txt|sse)$/.test(path))
      .toSorted()
      .map((path) => ({ name: `${prefix}${path}`, path, text: readFileSync(join(folder, path), 'utf8') })),
  )
}

export function findRecordings(protocol: ProtocolId): readonly Recording[] {
  const files = recordingFiles()
  return FOLDERS[protocol].flatMap((folder) =>
    files.filter(({ path }) => isIn(folder, path)).flatMap((file) => readRecording(protocol, file)),
  )
}

/** Not what lies deeper down: a vendor may speak another protocol there. */
function isIn(folder: string, path: string): boolean {
  return path.startsWith(`${folder}/`) && !path.slice(folder.length + 1).includes('/')
}

function readRecording(protocol: ProtocolId, { name, text }: RecordingFile): readonly Recording[] {
  if (name.endsWith('.json')) return [{ kind: 'whole', name, body: parseJson(text) ?? null }]
  if (!name.endsWith('.chunks.txt')) return []
  return splitAnswers(protocol, text.split('\n')).map((data, index, all) => ({
    kind: 'stream',
    name: all.length === 1 ? name : `${name}#${index + 1}`,
    events: data.map((line) => ({ event: eventName(protocol, line), data: line })),
  }))
}

/** Some files hold several answers in a row; a line that is no JSON belongs to none. */
function splitAnswers(protocol: ProtocolId, lines: readonly string[]): readonly (readonly string[])[] {
  const answers: string[][] = []
  let ended = true
  for (const line of lines) {
    const json = parseJson(line)
    if (!isJsonObject(json)) continue
    if (ended || answers.length === 0) answers.push([])
    ended = endsAnswer(protocol, json.type)
    answers.at(-1)?.push(line)
  }
  return answers
}

function endsAnswer(protocol: ProtocolId, type: unknown): boolean {
  switch (protocol) {
    case 'messages':
      return type === 'message_stop'
    case 'responses':
      return type === 'response.completed' || type === 'response.incomplete' || type === 'response.failed'
    case 'chat':
    case 'gemini':
      return false
  }
}

function eventName(protocol: ProtocolId, line: string): string {
  const json = parseJson(line)
  if (protocol === 'chat' || protocol === 'gemini' || !isJsonObject(json)) return ''
  return typeof json.type === 'string' ? json.type : ''
}

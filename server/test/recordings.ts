/**
 * Recorded traffic of real providers, for tests. The recordings are not part of the project: they lie at
 * `../shared/fixtures` beside the checkout where there are any, and a test without them says so and passes by.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
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

const ROOT = fileURLToPath(new URL('../../../shared/fixtures/', import.meta.url))

const FOLDERS: Readonly<Record<ProtocolId, readonly string[]>> = {
  messages: ['anthropic'],
  gemini: ['google'],
  chat: 'alibaba deepseek/chat groq mistral moonshotai openai-compatible/chat openai/chat perplexity xai'.split(
    ' ',
  ),
  responses: ['openai/responses', 'azure', 'xai/responses', 'open-responses/responses'],
}

/** True when there is something to read; otherwise tests skip and say why in their name. */
export const haveRecordings = existsSync(ROOT)

export function findRecordings(protocol: ProtocolId): readonly Recording[] {
  if (!haveRecordings) return []
  return FOLDERS[protocol].flatMap((folder) =>
    readdirSync(`${ROOT}${folder}`)
      .toSorted()
      .flatMap((file) => readRecording(protocol, `${folder}/${file}`)),
  )
}

function readRecording(protocol: ProtocolId, path: string): readonly Recording[] {
  if (path.endsWith('.json')) {
    return [{ kind: 'whole', name: path, body: parseJson(readFileSync(`${ROOT}${path}`, 'utf8')) ?? null }]
  }
  if (path.endsWith('.chunks.txt')) {
    const lines = readFileSync(`${ROOT}${path}`, 'utf8').split('\n')
    return splitAnswers(protocol, lines).map((data, index, all) => ({
      kind: 'stream',
      name: all.length === 1 ? path : `${path}#${index + 1}`,
      events: data.map((line) => ({ event: eventName(protocol, line), data: line })),
    }))
  }
  return []
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

/**
 * Recorded traffic for tests. A few small answers lie in `fixtures/`, so that every test on recordings runs anywhere.
 * Traffic of real providers is no part of the project: it lies at `../shared/fixtures` beside the checkout where there is any.
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

const OWN = fileURLToPath(new URL('fixtures/', import.meta.url))
const BESIDE = fileURLToPath(new URL('../../../shared/fixtures/', import.meta.url))

const FOLDERS: Readonly<Record<ProtocolId, readonly string[]>> = {
  messages: ['anthropic'],
  gemini: ['google'],
  chat: 'alibaba deepseek/chat groq mistral moonshotai openai-compatible/chat openai/chat perplexity xai'.split(
    ' ',
  ),
  responses: ['openai/responses', 'azure', 'xai/responses', 'open-responses/responses'],
}

/** True when there is traffic of real providers; tests that need one of those say in their name why they are skipped. */
export const haveRecordings = existsSync(BESIDE)

/** The project's own ones first. */
export function findRecordings(protocol: ProtocolId): readonly Recording[] {
  return [
    ...readFolder(OWN, protocol, protocol),
    ...(haveRecordings ? FOLDERS[protocol].flatMap((folder) => readFolder(BESIDE, folder, protocol)) : []),
  ]
}

function readFolder(root: string, folder: string, protocol: ProtocolId): readonly Recording[] {
  return readdirSync(`${root}${folder}`)
    .toSorted()
    .flatMap((file) => readRecording(root, `${folder}/${file}`, protocol))
}

function readRecording(root: string, path: string, protocol: ProtocolId): readonly Recording[] {
  if (path.endsWith('.json')) {
    return [{ kind: 'whole', name: path, body: parseJson(readFileSync(`${root}${path}`, 'utf8')) ?? null }]
  }
  if (path.endsWith('.chunks.txt')) {
    const lines = readFileSync(`${root}${path}`, 'utf8').split('\n')
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

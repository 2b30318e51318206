/**
 * Recorded answers of real providers, passed through at random cuts: every byte comes out as it went in but for the
 * model's name, and the usage read is the usage recorded. What is expected is worked out here, from the parsed events.
 */
import { describe, expect, test } from 'vitest'
import { PLATFORM_MODEL, replayBody, replayStream } from '../../../test/passthrough/replay.ts'
import { recordingFiles } from '../../../test/recordings.ts'
import { framed } from '../../../test/passthrough/sample-answers.ts'
import { bytesOf, cutAnywhere, FUZZ_SEED, seededChance } from '../../../test/passthrough/test-kit.ts'
import type { Usage } from '../canonical/usage.ts'
import type { ProtocolId } from '../catalogue.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'

const MODEL = JSON.stringify(PLATFORM_MODEL)

const files = recordingFiles()
const named = (end: string) =>
  files.filter(({ name }) => name.endsWith(end)).map((file) => [file.name, file] as const)

describe('recorded streams', () => {
  test.each(named('.chunks.txt'))('%s', (_name, { path, text }) => {
    const protocol = protocolOf(path)
    const events = text.split('\n').filter((line) => parsed(line) !== undefined)
    for (const answer of answersIn(protocol, events)) {
      for (const lineEnd of ['\n', '\r\n']) replayAnswer(protocol, answer, lineEnd)
    }
  })
})

describe('recorded streams that kept their framing', () => {
  test.each(named('.sse'))('%s', (_name, { text }) => {
    for (let run = 0; run < 20; run++) {
      const seed = FUZZ_SEED + run
      const { output, end } = replayStream('chat', cutAnywhere(bytesOf(text), seededChance(seed), 40))
      expect(output, `seed ${seed}`).toBe(text.replaceAll(/"model":"[^"]*"/g, `"model":${MODEL}`))
      expect(end).toBe('complete')
    }
  })
})

describe('recorded whole answers', () => {
  test.each(named('.json'))('%s', (_name, { path, text }) => {
    const protocol = protocolOf(path)
    const value = parsed(text)
    if (!isJsonObject(value)) throw new Error('a recording is no JSON object')
    const bytes = bytesOf(text)
    for (let run = 0; run < 5; run++) {
      const { output, end, reading } = replayBody(
        protocol,
        cutAnywhere(bytes, seededChance(FUZZ_SEED + run), 20),
      )
      expect(output).toBe(replaceModel(protocol, text, value))
      const isError = value.error !== undefined && value.error !== null
      expect(end).toBe(isError ? 'error' : 'complete')
      const usage = expectedUsage(protocol, [value])
      if (usage !== undefined) expect([reading.usage, reading.source]).toEqual([usage, 'upstream'])
    }
  })
})

function replayAnswer(protocol: ProtocolId, events: readonly string[], lineEnd: string): void {
  const values = events.map((line) => parsed(line)).filter(isJsonObject)
  const ends = protocol === 'chat' ? ['[DONE]'] : []
  const stream = framed(protocol, [...events, ...ends], lineEnd)
  const passed = framed(
    protocol,
    [...events.map((line) => replaceModel(protocol, line, parsed(line))), ...ends],
    lineEnd,
  )
  const types = values.map((value) => value.type)
  const isClean = types.includes('response.completed') || types.includes('response.incomplete')
  const expected = protocol === 'responses' && isClean ? `${passed}data: [DONE]\n\n` : passed
  const usage = expectedUsage(protocol, values)
  for (let run = 0; run < 4; run++) {
    const seed = FUZZ_SEED + run
    const { output, reading, end, observed } = replayStream(
      protocol,
      cutAnywhere(bytesOf(stream), seededChance(seed), 40),
    )
    expect(output, `seed ${seed}`).toBe(expected)
    expect(observed.unreadableEvents).toBe(0)
    const expectedKind = expectedEnd(protocol, types, values)
    expect(end, `seed ${seed}`).toBe(expectedKind)
    if (expectedKind === 'cut') expect(reading.source).toBe('estimated')
    else if (usage !== undefined) {
      expect([reading.usage, reading.source], `seed ${seed}`).toEqual([usage, 'upstream'])
    }
  }
}

function protocolOf(file: string): ProtocolId {
  if (file.startsWith('anthropic/')) return 'messages'
  if (file.startsWith('google/')) return 'gemini'
  return /responses\/|^azure\/(?!azure-deepseek)/.test(file) ? 'responses' : 'chat'
}

/** Some files hold several answers after each other; each begins with its own first event. */
function answersIn(protocol: ProtocolId, events: readonly string[]): string[][] {
  const first =
    protocol === 'messages' ? 'message_start' : protocol === 'responses' ? 'response.created' : undefined
  const answers: string[][] = []
  let id: JsonValue | undefined
  for (const event of events) {
    const value = parsed(event)
    if (!isJsonObject(value)) continue
    const started = isJsonObject(value.message) ? value.message.id : undefined
    // Two recordings show a proxy that says message_start twice: that is one answer.
    const starts = value.type === first && (protocol !== 'messages' || started !== id)
    if (first !== undefined && value.type === first) id = started
    if (answers.length === 0 || (first !== undefined && starts)) answers.push([])
    answers.at(-1)?.push(event)
  }
  return answers
}

function expectedEnd(protocol: ProtocolId, types: readonly unknown[], values: readonly JsonObject[]): string {
  switch (protocol) {
    case 'responses':
      if (types.includes('response.failed') || types.includes('error')) return 'error'
      return types.includes('response.completed') || types.includes('response.incomplete')
        ? 'complete'
        : 'cut'
    case 'messages':
      return types.includes('message_stop') ? 'complete' : 'cut'
    case 'gemini':
      return JSON.stringify(values).includes('"finishReason"') ? 'complete' : 'cut'
    case 'chat':
      return 'complete'
  }
}

/** The same text with the model's name at the protocol's own place replaced; found by its spelling. */
function replaceModel(protocol: ProtocolId, text: string, value: JsonValue | undefined): string {
  if (!isJsonObject(value) || protocol === 'gemini') return text
  const inside =
    protocol === 'responses' ? value.response : protocol === 'messages' ? value.message : undefined
  const holder = isJsonObject(inside)
    ? inside
    : protocol === 'chat' || value.output !== undefined || value.content !== undefined
      ? value
      : undefined
  if (typeof holder?.model !== 'string') return text
  // The member is distinguished from deeper ones of that name by parsing an edited copy.
  for (const match of text.matchAll(/"model"\s*:\s*("[^"]*")/g)) {
    const at = match.index + match[0].length - (match[1]?.length ?? 0)
    const edited = text.slice(0, at) + MODEL + text.slice(match.index + match[0].length)
    const again = parsed(edited)
    const other = isJsonObject(again)
      ? inside === undefined || inside === null
        ? again
        : again[protocol === 'responses' ? 'response' : 'message']
      : undefined
    if (isJsonObject(other) && other.model === PLATFORM_MODEL) return edited
  }
  throw new Error('no model found to replace')
}

/** The last value of every counter, then the arithmetic of docs/protocols.md#usage, written out once more. */
function expectedUsage(protocol: ProtocolId, values: readonly JsonObject[]): Usage | undefined {
  const counters = new Map<string, number>()
  for (const value of values) {
    const inside =
      protocol === 'responses' ? value.response : protocol === 'messages' ? value.message : undefined
    const holder = isJsonObject(inside) ? inside : value
    const wire = holder.usage ?? holder.usageMetadata
    if (isJsonObject(wire)) collect(wire, '', counters)
  }
  const at = (name: string): number | undefined => counters.get(name)
  if ([...counters.values()].every((count) => count === 0)) return undefined
  switch (protocol) {
    case 'chat': {
      const cached =
        at('prompt_tokens_details.cached_tokens') ?? at('prompt_cache_hit_tokens') ?? at('cached_tokens')
      const reasoning = at('completion_tokens_details.reasoning_tokens') ?? at('reasoning_tokens')
      const apart =
        (reasoning ?? 0) > 0 &&
        at('total_tokens') !== (at('prompt_tokens') ?? 0) + (at('completion_tokens') ?? 0)
      return {
        input: (at('prompt_tokens') ?? 0) - (cached ?? 0),
        cachedInput: cached,
        cacheWrite: at('prompt_tokens_details.cache_write_tokens'),
        cacheWrite1h: undefined,
        output: (at('completion_tokens') ?? 0) + (apart ? (reasoning ?? 0) : 0),
        reasoning,
      }
    }
    case 'responses':
      return {
        input:
          (at('input_tokens') ?? 0) -
          (at('input_tokens_details.cached_tokens') ?? 0) -
          (at('input_tokens_details.cache_write_tokens') ?? 0),
        cachedInput: at('input_tokens_details.cached_tokens'),
        cacheWrite: at('input_tokens_details.cache_write_tokens'),
        cacheWrite1h: undefined,
        output: at('output_tokens'),
        reasoning: at('output_tokens_details.reasoning_tokens'),
      }
    case 'messages': {
      const hour = at('cache_creation.ephemeral_1h_input_tokens')
      const written = at('cache_creation_input_tokens')
      return {
        input: at('input_tokens'),
        cachedInput: at('cache_read_input_tokens'),
        cacheWrite: written === undefined ? undefined : written - (hour ?? 0),
        cacheWrite1h: hour,
        output: at('output_tokens'),
        reasoning: at('output_tokens_details.thinking_tokens'),
      }
    }
    case 'gemini':
      return {
        input:
          (at('promptTokenCount') ?? 0) +
          (at('toolUsePromptTokenCount') ?? 0) -
          (at('cachedContentTokenCount') ?? 0),
        cachedInput: at('cachedContentTokenCount'),
        cacheWrite: undefined,
        cacheWrite1h: undefined,
        output:
          (at('totalTokenCount') ?? 0) - (at('promptTokenCount') ?? 0) - (at('toolUsePromptTokenCount') ?? 0),
        reasoning: at('thoughtsTokenCount'),
      }
  }
}

function collect(wire: JsonObject, prefix: string, counters: Map<string, number>): void {
  for (const [name, value] of Object.entries(wire)) {
    if (typeof value === 'number') counters.set(prefix + name, value)
    else if (isJsonObject(value)) collect(value, `${prefix}${name}.`, counters)
  }
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/**
 * Events of a messages upstream as canonical parts. Tolerant where proxies are sloppy: pings anywhere, a repeated
 * `message_start`, deltas of blocks that never opened, text inside a tool call
 * (docs/protocols.md#messages-streams, #trap-4, #trap-5, #trap-6).
 */
import { argumentsText, nestsTooDeep, parseJson } from '../../../canonical/json-text.ts'
import type { StreamPart } from '../../../canonical/response.ts'
import type { JsonObject, JsonValue } from '../../../json.ts'
import { brokenStream } from '../../error-body.ts'
import type { SseEvent, StreamDecoder } from '../../protocol.ts'
import { listOf, type Maybe, numberOf, objectOf, textOf, wordOf } from '../../read-json.ts'
import { decodeCitation, isClientCall, isJsonOutput, signatureOf } from './decode-response.ts'
import { decodeError } from '../error.ts'
import { type Called, decodeFinish, type StopFields } from './finish.ts'
import { usageCollector } from './usage.ts'

export function streamDecoder(): StreamDecoder {
  const reading: Reading = {
    id: undefined,
    nextBlock: 0,
    open: new Map(),
    stop: undefined,
    usage: usageCollector(),
    called: 'nothing',
    over: false,
  }
  return {
    push: (event) => pushEvent(reading, event),
    end: () => (reading.over ? [] : fail(reading, 'the upstream closed its stream before message_stop')),
  }
}

/** Maximum characters of an opaque block's input; server tools write short programs. */
const OPAQUE_CHARACTERS_MAX = 4 * 1024 * 1024

interface Reading {
  /** Id of the message that has started. */
  id: string | undefined
  nextBlock: number
  readonly open: Map<number, OpenBlock>
  stop: StopFields | undefined
  readonly usage: ReturnType<typeof usageCollector>
  called: Called
  over: boolean
}

interface OpenBlock {
  readonly kind: 'text' | 'reasoning' | 'tool' | 'json' | 'opaque'
  /** Canonical number; an opaque block takes one when it is complete. */
  readonly block: number
  /** The block as it started. */
  readonly json: JsonObject
  wroteArguments: boolean
  /** Input of an opaque block so far. */
  input: string
}

function pushEvent(reading: Reading, { data, json: read }: SseEvent): readonly StreamPart[] {
  if (reading.over || (data === '' && read === undefined) || data === '[DONE]') return []
  const json = objectOf(read ?? parseJson(data))
  if (json === undefined) return fail(reading, 'the upstream sent an event that is not a JSON object')
  switch (textOf(json.type) ?? '') {
    case 'message_start':
      return startMessage(reading, json)
    case 'content_block_start':
      return [...assureStart(reading), ...startBlock(reading, json)]
    case 'content_block_delta':
      return pushDelta(reading, json)
    case 'content_block_stop':
      return stopBlock(reading, numberOf(json.index) ?? -1)
    case 'message_delta':
      return messageDelta(reading, json)
    case 'message_stop':
      return stopMessage(reading)
    case 'error':
      return [...closeAll(reading), { type: 'error', error: decodeError(undefined, json) }]
    case 'ping':
      return [{ type: 'ping' }]
    default:
      return []
  }
}

/** Closes every block. */
function closeAll(reading: Reading): readonly StreamPart[] {
  reading.over = true
  return [...reading.open.keys()].flatMap((index) => stopBlock(reading, index))
}

function fail(reading: Reading, message: string): readonly StreamPart[] {
  return [...closeAll(reading), { type: 'error', error: brokenStream(message) }]
}

/**
 * Proxies repeat the start, or splice another message into an open one when they retry. What was sent cannot be taken
 * back, so the second case is a failure of the upstream.
 */
function startMessage(reading: Reading, json: JsonObject): readonly StreamPart[] {
  const message = objectOf(json.message) ?? {}
  const id = textOf(message.id) ?? ''
  const usage = usageParts(reading, message.usage)
  if (reading.id === undefined) {
    reading.id = id
    return [{ type: 'start', id, createdAt: undefined }, ...usage, ...prefilled(reading, message.content)]
  }
  if (reading.id === id || reading.nextBlock === 0) return usage
  return fail(reading, 'the upstream began a second message inside the first')
}

function usageParts(reading: Reading, value: Maybe): readonly StreamPart[] {
  const usage = objectOf(value) === undefined ? undefined : reading.usage(value)
  return usage === undefined ? [] : [{ type: 'usage', usage }]
}

/** Calls made before the stream began are complete in the start event. */
function prefilled(reading: Reading, content: Maybe): readonly StreamPart[] {
  return listOf(content).flatMap((block, position) => {
    const index = PREFILLED_FROM - position
    return [...startBlock(reading, { index, content_block: block }), ...stopBlock(reading, index)]
  })
}

/** Indices that no event uses. */
const PREFILLED_FROM = -2

function assureStart(reading: Reading): readonly StreamPart[] {
  if (reading.id !== undefined) return []
  reading.id = ''
  return [{ type: 'start', id: '', createdAt: undefined }]
}

function startBlock(reading: Reading, json: JsonObject): readonly StreamPart[] {
  const index = numberOf(json.index) ?? reading.nextBlock
  const block = objectOf(json.content_block) ?? {}
  const before = reading.open.has(index) ? stopBlock(reading, index) : []
  const kind = kindOf(block)
  if (kind === undefined) return before
  const number = reading.nextBlock
  const open: OpenBlock = { kind, block: number, json: block, wroteArguments: false, input: '' }
  reading.open.set(index, open)
  if (kind === 'opaque') return before
  reading.nextBlock += 1
  if (isClientCall(block)) reading.called = 'client'
  else if (kind === 'json' && reading.called === 'nothing') reading.called = 'json-output'
  return [
    ...before,
    { type: 'block-start', block: number, candidate: 0, kind: startKind(block) },
    ...initial(open),
  ]
}

function kindOf(block: JsonObject): OpenBlock['kind'] | undefined {
  switch (textOf(block.type) ?? '') {
    case 'text':
      return 'text'
    case 'thinking':
    case 'redacted_thinking':
      return 'reasoning'
    case 'tool_use':
      return isJsonOutput(block) ? 'json' : 'tool'
    default:
      return textOf(block.type) === undefined ? undefined : 'opaque'
  }
}

function startKind(block: JsonObject): Extract<StreamPart, { type: 'block-start' }>['kind'] {
  switch (textOf(block.type) ?? '') {
    case 'thinking':
      return { type: 'reasoning', kind: 'summary' }
    case 'redacted_thinking':
      return { type: 'reasoning', kind: 'redacted' }
    case 'tool_use':
      if (isJsonOutput(block)) return { type: 'text' }
      return {
        type: 'tool-call',
        id: textOf(block.id) ?? '',
        name: textOf(block.name) ?? '',
        namespace: undefined,
        kind: 'function',
      }
    default:
      return { type: 'text' }
  }
}

/** The content of a block's opening event: mostly nothing, sometimes everything. */
function initial({ json, block }: OpenBlock): readonly StreamPart[] {
  const signature = signatureOf(json.type === 'redacted_thinking' ? json.data : json.signature)
  return [
    ...text(block, textOf(json.text) ?? textOf(json.thinking) ?? ''),
    ...(signature === undefined ? [] : [{ type: 'signature', block, signature } as const]),
    ...listOf(json.citations).flatMap((citation) => citationParts(block, citation)),
  ]
}

function text(block: number, said: string): readonly StreamPart[] {
  return said === '' ? [] : [{ type: 'text-delta', block, text: said }]
}

function citationParts(block: number, value: Maybe): readonly StreamPart[] {
  const citation = decodeCitation(value)
  return citation === undefined ? [] : [{ type: 'citation', block, citation }]
}

function pushDelta(reading: Reading, json: JsonObject): readonly StreamPart[] {
  const open = reading.open.get(numberOf(json.index) ?? -1)
  const delta = objectOf(json.delta)
  if (open === undefined || delta === undefined) return []
  switch (textOf(delta.type) ?? '') {
    case 'text_delta':
      return textDelta(reading, open, textOf(delta.text) ?? '')
    case 'thinking_delta':
      return open.kind === 'reasoning' ? text(open.block, textOf(delta.thinking) ?? '') : []
    case 'input_json_delta':
      return argumentsDelta(reading, open, textOf(delta.partial_json) ?? '')
    case 'signature_delta':
      return signatureParts(open, delta.signature)
    case 'citations_delta':
      return open.kind === 'text' ? citationParts(open.block, delta.citation) : []
    default:
      return []
  }
}

/** Some servers write the line break between two tool calls into the first one (docs/protocols.md#trap-6). */
function textDelta(reading: Reading, open: OpenBlock, said: string): readonly StreamPart[] {
  if (open.kind === 'text') return text(open.block, said)
  if (said.trim() === '') return []
  const block = reading.nextBlock
  reading.nextBlock += 1
  return [
    { type: 'block-start', block, candidate: 0, kind: { type: 'text' } },
    { type: 'text-delta', block, text: said },
    { type: 'block-end', block },
  ]
}

function argumentsDelta(reading: Reading, open: OpenBlock, json: string): readonly StreamPart[] {
  if (json === '') return []
  const { block } = open
  switch (open.kind) {
    case 'tool':
      open.wroteArguments = true
      return [{ type: 'arguments-delta', block, text: json }]
    case 'json':
      open.wroteArguments = true
      return text(block, json)
    case 'opaque':
      open.input += json
      return open.input.length > OPAQUE_CHARACTERS_MAX
        ? fail(reading, 'the upstream sent more input of one server tool than can be held')
        : []
    case 'text':
    case 'reasoning':
      return []
  }
}

function signatureParts(open: OpenBlock, value: Maybe): readonly StreamPart[] {
  const signature = signatureOf(value)
  if (open.kind !== 'reasoning' || signature === undefined) return []
  return [{ type: 'signature', block: open.block, signature }]
}

function stopBlock(reading: Reading, index: number): readonly StreamPart[] {
  const open = reading.open.get(index)
  if (open === undefined) return []
  reading.open.delete(index)
  if (open.kind === 'opaque') return opaqueParts(reading, open)
  return [...unsaidArguments(open), { type: 'block-end', block: open.block }]
}

/** A call without deltas has the arguments of its opening event, mostly none. */
function unsaidArguments({ kind, block, json, wroteArguments }: OpenBlock): readonly StreamPart[] {
  if (wroteArguments) return []
  const written = argumentsText(json.input)
  if (kind === 'tool') return [{ type: 'arguments-delta', block, text: written }]
  return kind === 'json' ? text(block, written) : []
}

/** The complete block, in order among those that have ended. */
function opaqueParts(reading: Reading, { json, input }: OpenBlock): readonly StreamPart[] {
  const parsed = input === '' ? undefined : parseJson(input)
  const whole: JsonValue = parsed === undefined ? json : { ...json, input: parsed }
  if (nestsTooDeep(whole)) return []
  const block = reading.nextBlock
  reading.nextBlock += 1
  return [
    { type: 'block-start', block, candidate: 0, kind: { type: 'opaque', protocol: 'messages', json: whole } },
    { type: 'block-end', block },
  ]
}

/** Counters here replace those of the start, even if they repeat the input (docs/protocols.md#messages-streams). */
function messageDelta(reading: Reading, json: JsonObject): readonly StreamPart[] {
  const delta = objectOf(json.delta)
  if (wordOf(delta?.stop_reason) !== undefined && delta !== undefined) reading.stop = delta
  return usageParts(reading, json.usage)
}

function stopMessage(reading: Reading): readonly StreamPart[] {
  const started = assureStart(reading)
  const closed = closeAll(reading)
  const finish = decodeFinish(reading.stop ?? {}, reading.called)
  return [...started, ...closed, { type: 'finish', candidate: 0, finish }, { type: 'end' }]
}

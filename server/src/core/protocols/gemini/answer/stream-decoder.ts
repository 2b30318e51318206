/**
 * Chunks of a Gemini upstream as canonical parts. A text continues until something else arrives; a call arrives whole;
 * the stream ends when the connection ends after a finish reason, since nothing else marks the end
 * (docs/protocols.md#gemini-streams).
 */
import { addAll } from '../../../canonical/add-all.ts'
import { hashText } from '../../../canonical/hash-text.ts'
import { argumentsText, parseJson } from '../../../canonical/json-text.ts'
import type { Signature } from '../../../canonical/request.ts'
import type { BlockStart, Finish, StreamPart } from '../../../canonical/response.ts'
import type { JsonObject } from '../../../json.ts'
import { brokenStream } from '../../error-body.ts'
import type { SseEvent, StreamDecoder } from '../../protocol.ts'
import { flagOf, listOf, type Maybe, numberOf, objectOf, textOf, wordOf } from '../../read-json.ts'
import { decodeError } from '../error.ts'
import { decodeFinish, isFailedCall } from './finish.ts'
import { type GroundedText, groundedText, readGrounding } from './grounding.ts'
import { collectArguments, type PartialArguments } from './partial-args.ts'
import { usageCollector } from './usage.ts'

export function streamDecoder(): StreamDecoder {
  const reading = newReading()
  return {
    push: (event: SseEvent) => pushData(reading, event),
    end: () => endReading(reading),
  }
}

export interface Reading {
  started: boolean
  over: boolean
  nextBlock: number
  calls: number
  /** Prefix for ids of calls if the upstream sends none. */
  callPrefix: string
  readonly usage: ReturnType<typeof usageCollector>
  readonly candidates: Map<number, CandidateReading>
}

interface CandidateReading {
  readonly index: number
  open: OpenText | undefined
  call: OpenCall | undefined
  finishReason: string | undefined
  finishMessage: string | undefined
  calledTool: boolean
  /** The sources of the answer, emitted when its text ends. */
  grounding: JsonObject | undefined
  /** Length of the texts that have ended. */
  bytesBefore: number
}

interface OpenText {
  readonly block: number
  readonly thought: boolean
  readonly grounded: GroundedText
}

/** A call whose arguments Vertex sends in pieces. */
interface OpenCall {
  readonly block: number
  readonly pieces: PartialArguments
}

export function newReading(): Reading {
  return {
    started: false,
    over: false,
    nextBlock: 0,
    calls: 0,
    callPrefix: '',
    usage: usageCollector(),
    candidates: new Map(),
  }
}

function pushData(reading: Reading, { data, json }: SseEvent): readonly StreamPart[] {
  if (reading.over || (data === '' && json === undefined) || data === '[DONE]') return []
  const chunk = objectOf(json ?? parseJson(data))
  return chunk === undefined
    ? fail(reading, 'the upstream sent a chunk that is not a JSON object')
    : pushChunk(reading, chunk)
}

/** A chunk of a stream and a whole answer have the same shape. */
export function pushChunk(reading: Reading, chunk: JsonObject): readonly StreamPart[] {
  if (objectOf(chunk.error) !== undefined) {
    return [...closeAll(reading), { type: 'error', error: decodeError(undefined, chunk) }]
  }
  const parts = [...start(reading, chunk), ...usageParts(reading, chunk.usageMetadata)]
  for (const item of listOf(chunk.candidates)) {
    const candidate = objectOf(item)
    if (candidate !== undefined && !reading.over) addAll(parts, pushCandidate(reading, candidate))
  }
  return [...parts, ...blocked(reading, objectOf(chunk.promptFeedback))]
}

function start(reading: Reading, chunk: JsonObject): readonly StreamPart[] {
  if (reading.started) return []
  reading.started = true
  const id = textOf(chunk.responseId) ?? ''
  reading.callPrefix = id === '' ? hashText(JSON.stringify(chunk)) : id.replaceAll(/[^a-zA-Z0-9_-]/g, '_')
  return [{ type: 'start', id, createdAt: secondsOf(chunk.createTime) }]
}

function secondsOf(value: Maybe): number | undefined {
  const milliseconds = Date.parse(textOf(value) ?? '')
  return Number.isNaN(milliseconds) ? undefined : Math.floor(milliseconds / 1000)
}

function usageParts(reading: Reading, value: Maybe): readonly StreamPart[] {
  const usage = reading.usage(value)
  return usage === undefined ? [] : [{ type: 'usage', usage }]
}

/** A refused prompt has no candidates at all. */
function blocked(reading: Reading, feedback: JsonObject | undefined): readonly StreamPart[] {
  const reason = wordOf(feedback?.blockReason)
  if (reason === undefined || reading.over) return []
  const candidate = candidateOf(reading, 0)
  candidate.finishReason ??= 'PROHIBITED_CONTENT'
  candidate.finishMessage ??= wordOf(feedback?.blockReasonMessage) ?? `the prompt was blocked: ${reason}`
  return []
}

function candidateOf(reading: Reading, index: number): CandidateReading {
  const known = reading.candidates.get(index)
  if (known !== undefined) return known
  const candidate: CandidateReading = {
    index,
    open: undefined,
    call: undefined,
    finishReason: undefined,
    finishMessage: undefined,
    calledTool: false,
    grounding: undefined,
    bytesBefore: 0,
  }
  reading.candidates.set(index, candidate)
  return candidate
}

function pushCandidate(reading: Reading, json: JsonObject): readonly StreamPart[] {
  const candidate = candidateOf(reading, numberOf(json.index) ?? 0)
  // Every chunk with sources has all of them.
  candidate.grounding = objectOf(json.groundingMetadata) ?? candidate.grounding
  const parts = listOf(objectOf(json.content)?.parts).flatMap((item) => {
    const part = objectOf(item)
    return part === undefined || reading.over ? [] : pushPart(reading, candidate, part)
  })
  if (reading.over) return parts
  return [...parts, ...logprobParts(candidate, json), ...finishCandidate(reading, candidate, json)]
}

function logprobParts({ open }: CandidateReading, json: JsonObject): readonly StreamPart[] {
  const logprobs = decodeLogprobs(objectOf(json.logprobsResult))
  return open === undefined || open.thought || logprobs.length === 0
    ? []
    : [{ type: 'logprobs', block: open.block, logprobs }]
}

/** In the form of the chat protocol: a list of tokens with their alternatives. */
function decodeLogprobs(result: JsonObject | undefined): readonly JsonObject[] {
  const alternatives = listOf(result?.topCandidates)
  return listOf(result?.chosenCandidates).flatMap((item, index) => {
    const chosen = tokenOf(objectOf(item))
    if (chosen === undefined) return []
    const top = listOf(objectOf(alternatives[index])?.candidates).flatMap(
      (other) => tokenOf(objectOf(other)) ?? [],
    )
    return [{ ...chosen, bytes: null, top_logprobs: top.map((token) => ({ ...token, bytes: null })) }]
  })
}

function tokenOf(
  candidate: JsonObject | undefined,
): { readonly token: string; readonly logprob: number } | undefined {
  const token = textOf(candidate?.token)
  const logprob = numberOf(candidate?.logProbability)
  return token === undefined || logprob === undefined ? undefined : { token, logprob }
}

function finishCandidate(
  reading: Reading,
  candidate: CandidateReading,
  json: JsonObject,
): readonly StreamPart[] {
  const reason = wordOf(json.finishReason)
  if (reason === undefined || reason === 'FINISH_REASON_UNSPECIFIED') return []
  candidate.finishReason = reason
  candidate.finishMessage = wordOf(json.finishMessage)
  if (!isFailedCall(reason)) return []
  const told = candidate.finishMessage === undefined ? '' : `: ${candidate.finishMessage}`
  return [
    ...closeAll(reading),
    {
      type: 'error',
      error: {
        status: 500,
        type: reason,
        code: reason,
        message: `the model failed to call a tool (${reason})${told}`,
        raw: json,
      },
    },
  ]
}

function pushPart(reading: Reading, candidate: CandidateReading, part: JsonObject): readonly StreamPart[] {
  const call = objectOf(part.functionCall)
  if (call !== undefined) return pushCall(reading, candidate, { call, signature: signatureOf(part) })
  const text = textOf(part.text)
  if (text !== undefined) return pushText(reading, candidate, part, text)
  if (part.thought === true) return []
  const kind = wholeKind(part)
  return kind === undefined ? [] : [...closeOpen(candidate), ...wholeBlock(reading, candidate, kind)]
}

/** An image or sound, or a part of Google's own tools. */
function wholeKind(part: JsonObject): BlockStart | undefined {
  const inline = objectOf(part.inlineData)
  const data = textOf(inline?.data)
  if (data !== undefined) {
    return { type: 'media', mediaType: textOf(inline?.mimeType) ?? 'application/octet-stream', data }
  }
  return Object.keys(part).length === 0 ? undefined : { type: 'opaque', protocol: 'gemini', json: part }
}

function wholeBlock(reading: Reading, candidate: CandidateReading, kind: BlockStart): readonly StreamPart[] {
  const block = takeBlock(reading)
  return [
    { type: 'block-start', block, candidate: candidate.index, kind },
    { type: 'block-end', block },
  ]
}

function takeBlock(reading: Reading): number {
  const block = reading.nextBlock
  reading.nextBlock += 1
  return block
}

function signatureOf(part: JsonObject): Signature | undefined {
  const data = wordOf(part.thoughtSignature)
  return data === undefined ? undefined : { issuer: undefined, id: undefined, data, protocol: 'gemini' }
}

function pushText(
  reading: Reading,
  candidate: CandidateReading,
  part: JsonObject,
  text: string,
): readonly StreamPart[] {
  const thought = flagOf(part.thought) === true
  const signature = signatureOf(part)
  const said =
    text === '' && !(thought && signature !== undefined) ? [] : sayText(reading, candidate, thought, text)
  if (signature === undefined) return said
  return [...said, ...signText(reading, candidate, signature)]
}

function sayText(
  reading: Reading,
  candidate: CandidateReading,
  thought: boolean,
  text: string,
): readonly StreamPart[] {
  const before = candidate.open?.thought === thought ? [] : openText(reading, candidate, thought)
  const { open } = candidate
  if (open === undefined || text === '') return before
  if (!thought) open.grounded.push(text)
  return [...before, { type: 'text-delta', block: open.block, text }]
}

function openText(reading: Reading, candidate: CandidateReading, thought: boolean): readonly StreamPart[] {
  const closed = closeOpen(candidate)
  const block = takeBlock(reading)
  candidate.open = { block, thought, grounded: groundedText() }
  const kind: BlockStart = thought ? { type: 'reasoning', kind: 'summary' } : { type: 'text' }
  return [...closed, { type: 'block-start', block, candidate: candidate.index, kind }]
}

/**
 * The signature of visible thoughts closes them. A signature on a text, or on an empty part after it, belongs to hidden
 * thoughts and becomes a blob of its own.
 */
function signText(
  reading: Reading,
  candidate: CandidateReading,
  signature: Signature,
): readonly StreamPart[] {
  const { open } = candidate
  if (open?.thought === true) {
    return [{ type: 'signature', block: open.block, signature }, ...closeOpen(candidate)]
  }
  const block = takeBlock(reading)
  return [
    ...closeOpen(candidate),
    { type: 'block-start', block, candidate: candidate.index, kind: { type: 'reasoning', kind: 'redacted' } },
    { type: 'signature', block, signature },
    { type: 'block-end', block },
  ]
}

interface CallPart {
  readonly call: JsonObject
  readonly signature: Signature | undefined
}

function pushCall(reading: Reading, candidate: CandidateReading, part: CallPart): readonly StreamPart[] {
  const name = wordOf(part.call.name)
  if (name === undefined) return continueCall(reading, candidate, part.call)
  const closed = closeOpen(candidate)
  const opened = openCall(reading, candidate, part, name)
  if (part.call.willContinue === true || listOf(part.call.partialArgs).length > 0) {
    const { block } = opened
    candidate.call = { block, pieces: collectArguments() }
    return [...closed, ...opened.parts, ...continueCall(reading, candidate, part.call)]
  }
  const written: StreamPart = {
    type: 'arguments-delta',
    block: opened.block,
    text: argumentsText(part.call.args),
  }
  return [...closed, ...opened.parts, written, { type: 'block-end', block: opened.block }]
}

interface OpenedCall {
  readonly block: number
  readonly parts: readonly StreamPart[]
}

function openCall(
  reading: Reading,
  candidate: CandidateReading,
  { call, signature }: CallPart,
  name: string,
): OpenedCall {
  const block = takeBlock(reading)
  const id = wordOf(call.id) ?? `call_${reading.callPrefix}_${reading.calls}`
  reading.calls += 1
  candidate.calledTool = true
  const kind: BlockStart = { type: 'tool-call', id, name, namespace: undefined, kind: 'function' }
  const opened: StreamPart = { type: 'block-start', block, candidate: candidate.index, kind }
  return {
    block,
    parts: signature === undefined ? [opened] : [opened, { type: 'signature', block, signature }],
  }
}

/** Pieces of the arguments; a call without `willContinue` is complete. */
function continueCall(
  reading: Reading,
  candidate: CandidateReading,
  call: JsonObject,
): readonly StreamPart[] {
  const open = candidate.call
  if (open === undefined) return []
  for (const item of listOf(call.partialArgs)) {
    if (!open.pieces.add(objectOf(item) ?? {})) {
      return fail(reading, 'the upstream sent a piece of tool arguments without a valid path')
    }
  }
  return call.willContinue === true ? [] : closeOpen(candidate)
}

function closeOpen(candidate: CandidateReading): readonly StreamPart[] {
  const { open, call } = candidate
  candidate.open = undefined
  candidate.call = undefined
  const text = open === undefined ? [] : closeText(open, candidate)
  if (call === undefined) return text
  return [
    ...text,
    { type: 'arguments-delta', block: call.block, text: call.pieces.text() },
    { type: 'block-end', block: call.block },
  ]
}

function closeText(
  { block, thought, grounded }: OpenText,
  candidate: CandidateReading,
): readonly StreamPart[] {
  const end: StreamPart = { type: 'block-end', block }
  if (thought) return [end]
  const { grounding, bytesBefore } = candidate
  candidate.grounding = undefined
  candidate.bytesBefore += grounded.bytes()
  if (grounding === undefined) return [end]
  const citations = readGrounding(grounded, grounding, bytesBefore)
  return [...citations.map((citation) => ({ type: 'citation', block, citation }) as const), end]
}

/** Closes every block. */
function closeAll(reading: Reading): readonly StreamPart[] {
  reading.over = true
  return [...reading.candidates.values()].flatMap(closeOpen)
}

function fail(reading: Reading, message: string): readonly StreamPart[] {
  return [...closeAll(reading), { type: 'error', error: brokenStream(message) }]
}

/** What the closed connection means: an answer if there was a finish reason, else a failure. */
export function endReading(reading: Reading): readonly StreamPart[] {
  if (reading.over) return []
  const candidates = [...reading.candidates.values()]
  if (!candidates.some(({ finishReason }) => finishReason !== undefined)) {
    return fail(reading, 'the upstream closed its stream without a finish reason')
  }
  const closed = closeAll(reading)
  const finished = candidates.map(
    (candidate): StreamPart => ({ type: 'finish', candidate: candidate.index, finish: finishOf(candidate) }),
  )
  return [...closed, ...finished, { type: 'end' }]
}

function finishOf({ finishReason, finishMessage, calledTool }: CandidateReading): Finish {
  return decodeFinish({ raw: finishReason ?? 'OTHER', message: finishMessage, calledTool })
}

/** What holds of every connection that was played, whatever its calls and its client did. */
import { type PlainRequest, readPlainRequest } from '../../src/http/fast-lane/read-request.ts'
import type { ConnectionCase } from './connection-cases.ts'
import type { PlayedCall } from './played-call.ts'
import { readAnswers } from './read-answers.ts'

export interface Played {
  /** One after the other, as they were served. */
  readonly calls: readonly PlayedCall[]
  /** What Node got; undefined: it never got the connection. */
  readonly handed: Buffer | undefined
  /** Bytes that the client sent. */
  readonly sent: number
  /** Its client ended while something may have been going on. */
  readonly isEarly: boolean
  /** It was open before its client ended. */
  readonly isOpen: boolean
  /** All that its client got. */
  readonly written: Buffer
  readonly fault: string | undefined
}

export const BOUNDS = { headBytesMax: 65_536, headersMax: 12 }

/** Returns the first fault; undefined: there is none. */
export function checkPlayed(made: ConnectionCase, played: Played): string | undefined {
  const { calls, fault } = played
  return (
    fault ??
    calls.map((call) => call.fault).find((each) => each !== undefined) ??
    checkRequests(made, played) ??
    checkAnswers(made, played)
  )
}

/** Whether no head was cut: then no choice is left about which requests are served. */
export function isUncut({ bytes, cuts }: ConnectionCase): boolean {
  for (let at = 0; at < bytes.byteLength; ) {
    const request = readPlainRequest(bytes.subarray(at), BOUNDS)
    if (request === undefined) return true
    if (isCutIn(cuts, at, request)) return false
    at += request.headBytes + request.bodyBytes
  }
  return true
}

function isCutIn(cuts: readonly number[], at: number, { headBytes }: PlainRequest): boolean {
  return cuts.some((cut) => cut > at && cut < at + headBytes)
}

/** What was served and what was handed over are together what was sent, in its order. */
function checkRequests(made: ConnectionCase, played: Played): string | undefined {
  const { calls, sent } = played
  const bytes = made.bytes.subarray(0, sent)
  let at = 0
  for (const call of calls) {
    const request = readPlainRequest(bytes.subarray(at), BOUNDS)
    if (request === undefined) return `call ${call.index} was served, but what was sent is no plain request`
    const fault = differs(call, request, bytes.subarray(at + request.headBytes))
    if (fault !== undefined) return `call ${call.index}: ${fault}`
    at = Math.min(sent, at + request.headBytes + request.bodyBytes)
    if (call !== calls.at(-1) && !(call.isFinished && !call.saidClose))
      return `a call was served after call ${call.index}, which ended the connection or was not answered`
  }
  return played.handed === undefined ? checkKept(played, at) : checkHanded(made, played, at)
}

function differs(call: PlayedCall, request: PlainRequest, rest: Buffer): string | undefined {
  if (JSON.stringify(call.exchange.request) !== JSON.stringify(request)) return 'it is another request'
  const body = Buffer.concat(call.body)
  if (body.byteLength > request.bodyBytes) return 'its body is longer than it says'
  if (!body.equals(rest.subarray(0, body.byteLength))) return 'its body is not what was sent'
  if (call.bodyEnd === 'arrived' && body.byteLength < request.bodyBytes) return 'its body ended early'
  return undefined
}

function checkHanded(made: ConnectionCase, played: Played, at: number): string | undefined {
  const { calls, sent, isEarly } = played
  const rest = made.bytes.subarray(at, sent)
  const handed = played.handed ?? rest
  const isAll = !isEarly || made.end.how === 'ends its side'
  if (!handed.equals(isAll ? rest : rest.subarray(0, handed.byteLength)))
    return `${handed.byteLength} bytes were handed over, which are not the ${rest.byteLength} that are left`
  if (calls.at(-1)?.saidClose === true)
    return 'what follows an answer that ends the connection was handed over'
  const request = readPlainRequest(rest, BOUNDS)
  const isLeft = made.parts[calls.length % made.parts.length]?.kind === 'leaves'
  if (request === undefined || isLeft || isCutIn(made.cuts, at, request)) return undefined
  return `a plain request that came whole was handed over, at byte ${at}`
}

/** All of it was served, or its last call ended the connection or still waits for its body. */
function checkKept({ calls, sent, isEarly, isOpen }: Played, at: number): string | undefined {
  if (isEarly) return undefined
  const last = calls.at(-1)
  // One that waits for its body until its client ends says so later.
  const hasEnded = last !== undefined && last.bodyEnd !== 'cut' && (last.saidClose || last.isBroken)
  if (hasEnded) return isOpen ? `call ${last.index} ended its connection, which is still open` : undefined
  if (!isOpen) return 'the connection was closed without a reason'
  return at < sent ? `${sent - at} bytes were neither served nor handed over` : undefined
}

/** Each call has its own answer, whole, in the order of the calls. */
function checkAnswers(made: ConnectionCase, { calls, written, isEarly, sent }: Played): string | undefined {
  const answers = readAnswers(written)
  if (answers.length > calls.length) return 'there are more answers than calls'
  for (const [at, answer] of answers.entries()) {
    const call = calls[at]
    if (call === undefined || answer.index !== at) return `answer ${at} is that of call ${answer.index}`
    const said = call.said.subarray(0, answer.whole ? call.said.byteLength : answer.body.byteLength)
    if (!answer.body.equals(said)) return `the answer to call ${at} is not what it said`
    if (answer.closes !== call.saidClose)
      return `the answer to call ${at} says another thing of its connection`
  }
  const bytes = calls.reduce(
    (sum, { exchange }) => sum + exchange.request.headBytes + exchange.request.bodyBytes,
    0,
  )
  for (const call of calls) {
    // One that was cut by its client is answered, too, while its client still listens.
    const isAnswered = !isEarly || (made.end.how === 'ends its side' && bytes > sent)
    const mustBeWhole = call.isFinished || (isAnswered && !call.isBroken && call.bodyEnd !== 'cut')
    if (mustBeWhole && answers[call.index]?.whole !== true)
      return `call ${call.index} was not answered as a whole`
  }
  return undefined
}

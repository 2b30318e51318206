/**
 * Speech by Qwen-TTS, and by CosyVoice (`synthesizer.ts`). A whole answer only has a link, so events are requested: sound in
 * base64, and a last event that ends the stream.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import { fromBase64 } from '../dialects/base64.ts'
import { passedDialect } from '../dialects/passed.ts'
import { renamed } from '../dialects/rename.ts'
import { soundAs, soundAsked, voiceName } from '../dialects/speech.ts'
import { wavOf } from '../dialects/wav.ts'
import type { FormRewrite, PassedDialect, RewrittenRequest } from '../provider.ts'
import { GENERATION, ofApi } from './address.ts'
import { errorIn, outputOf } from './answer.ts'
import { WORDS } from './failure-words.ts'
import { isSynthesized, SYNTHESIZER, synthesizerRequest } from './synthesizer.ts'

/** Sample rate in hertz, with two bytes per sample and one channel. */
const RATE = 24_000

const OVER_A_SOCKET = /-realtime\b|^cosyvoice-v1\b/

/** The vendor's own members that clients may also send. */
const OWN = { input: 'text', language_type: 'language_type' }
const OF_INSTRUCTED = {
  ...OWN,
  instructions: 'instructions',
  optimize_instructions: 'optimize_instructions',
}

function qwenRequest({
  model = null,
  voice,
  response_format: format,
  stream_format: events,
  ...rest
}: JsonObject): RewrittenRequest {
  const isInstructed = typeof model === 'string' && model.includes('instruct')
  const { members, dropped } = renamed(rest, isInstructed ? OF_INSTRUCTED : OWN)
  const isMade = format === undefined || format === 'wav' || format === 'pcm'
  return {
    body: { model, input: { ...members, voice: voiceName(voice) } },
    dropped: [...dropped, ...(isMade ? [] : ['response_format'])],
    context: soundAsked({ response_format: format, stream_format: events }),
  }
}

const rewrite: FormRewrite = {
  refuses: ({ model }) =>
    typeof model === 'string' && OVER_A_SOCKET.test(model)
      ? `model: this vendor serves ${model} over WebSocket only, which the gateway does not speak`
      : undefined,
  request: (body) => (isSynthesized(body['model']) ? synthesizerRequest(body) : qwenRequest(body)),
  gathered: (events) => {
    const failed = events.find((event) => errorIn(event) !== undefined)
    if (failed !== undefined) return failed
    const last = events.at(-1)
    if (last === undefined || outputOf(last)['finish_reason'] !== 'stop') return undefined
    return { ...last, pieces: piecesIn(events) }
  },
  answer: (body) => {
    const error = errorIn(body)
    if (error !== undefined) return { error }
    return body['pieces'] === undefined ? undefined : told(body['usage'])
  },
  sound: ({ pieces, usage }, context) => {
    const decoded = Array.isArray(pieces) ? pieces.map(bytesOf) : []
    const whole = decoded.filter((piece) => piece !== undefined)
    const bytes = Buffer.concat(whole)
    if (whole.length < decoded.length || bytes.length === 0) return undefined
    const { type, rate } = context
    if (typeof type === 'string') return soundAs({ type, bytes }, context, usageIn(usage))
    const isFile = bytes.subarray(0, 4).toString('latin1') === 'RIFF'
    if (context['format'] === 'pcm' && !isFile) return soundAs({ type: 'audio/pcm', bytes }, context)
    const made = isFile ? bytes : wavOf(bytes, typeof rate === 'number' ? rate : RATE)
    return soundAs({ type: 'audio/wav', bytes: made }, context, usageIn(usage))
  },
}

/** A synthesizer's events without a type repeat the sound sent before, or contain its address. */
function piecesIn(events: readonly JsonObject[]): readonly JsonValue[] {
  const typed = events.filter((event) => typeof outputOf(event)['type'] === 'string')
  return (typed.length === 0 ? events : typed).map((event) => audioOf(event)['data'] ?? null)
}

function usageIn(usage: JsonValue | undefined): JsonObject | undefined {
  const { usage: tokens } = told(usage)
  return isJsonObject(tokens) ? tokens : undefined
}

function audioOf(event: JsonObject): JsonObject {
  const { audio } = outputOf(event)
  return isJsonObject(audio) ? audio : {}
}

function bytesOf(piece: unknown): Uint8Array | undefined {
  return fromBase64(typeof piece === 'string' ? piece : '')
}

/** Models that are billed by character report no tokens. */
function told(usage: JsonValue | undefined): JsonObject {
  if (!isJsonObject(usage) || typeof usage['output_tokens'] !== 'number') return {}
  return { usage }
}

export const dashscopeSpeech: PassedDialect = {
  ...passedDialect({ protocol: 'speech', path: '', words: WORDS, rewrite }),
  form: ({ baseUrl, operation, forwardModelId }) => {
    if (operation === 'count-tokens') return undefined
    const path = isSynthesized(forwardModelId) ? SYNTHESIZER : GENERATION
    return { method: 'POST', url: ofApi(baseUrl, path), headers: { 'x-dashscope-sse': 'enable' } }
  },
}

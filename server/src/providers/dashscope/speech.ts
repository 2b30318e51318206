/**
 * Speech by Qwen-TTS. A whole answer only has a link, so events are requested: samples in base64, and a last event that
 * ends the stream.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import { fromBase64 } from '../dialects/base64.ts'
import { passedDialect } from '../dialects/passed.ts'
import { renamed } from '../dialects/rename.ts'
import { soundAs, soundAsked, voiceName } from '../dialects/speech.ts'
import { wavOf } from '../dialects/wav.ts'
import type { FormRewrite, PassedDialect } from '../provider.ts'
import { GENERATION, ofApi } from './address.ts'
import { errorIn, outputOf } from './answer.ts'
import { WORDS } from './failure-words.ts'

/** Hertz of its samples of two bytes, one channel. */
const RATE = 24_000

/** The vendor's own members, which a client may add. */
const OWN = { input: 'text', language_type: 'language_type' }
const OF_INSTRUCTED = {
  ...OWN,
  instructions: 'instructions',
  optimize_instructions: 'optimize_instructions',
}

const rewrite: FormRewrite = {
  request: ({ model, voice, response_format: format, stream_format: events, ...rest }) => {
    const isInstructed = typeof model === 'string' && model.includes('instruct')
    const { members, dropped } = renamed(rest, isInstructed ? OF_INSTRUCTED : OWN)
    const isMade = format === undefined || format === 'wav' || format === 'pcm'
    return {
      body: { model, input: { ...members, voice: voiceName(voice) } },
      dropped: [...dropped, ...(isMade ? [] : ['response_format'])],
      context: soundAsked({ response_format: format, stream_format: events }),
    }
  },
  gathered: (events) => {
    const failed = events.find((event) => errorIn(event) !== undefined)
    if (failed !== undefined) return failed
    const last = events.at(-1)
    if (last === undefined || outputOf(last)['finish_reason'] !== 'stop') return undefined
    return { ...last, pieces: events.map((event) => audioOf(event)['data'] ?? null) }
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
    const isFile = bytes.subarray(0, 4).toString('latin1') === 'RIFF'
    if (context['format'] === 'pcm' && !isFile) return soundAs({ type: 'audio/pcm', bytes }, context)
    const made = { type: 'audio/wav', bytes: isFile ? bytes : wavOf(bytes, RATE) }
    const usageOf = told(usage)['usage']
    return soundAs(made, context, isJsonObject(usageOf) ? usageOf : undefined)
  },
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
  form: ({ baseUrl, operation }) =>
    operation === 'count-tokens'
      ? undefined
      : { method: 'POST', url: ofApi(baseUrl, GENERATION), headers: { 'x-dashscope-sse': 'enable' } },
}

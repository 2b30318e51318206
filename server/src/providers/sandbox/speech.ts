/** A tone as long as its text would be, as a WAV file: whole, or in pieces as a stream. */
import type { OfflineAnswer, OfflineChunk } from '../../core/offline-answer.ts'
import type { JsonObject } from '../../core/json.ts'
import { toBase64 } from '../dialects/base64.ts'
import type { OfflineRequest, PassedDialect } from '../provider.ts'
import { SANDBOX_SPEECH_MODEL } from './models.ts'
import { parseBody } from './respond.ts'
import { type Answered, Mistake, oneModel } from './respond-one.ts'
import { countTokens } from './tokens.ts'
import { toneOf } from './wav.ts'

const CHARACTERS_MAX = 4_096
const CHARACTERS_PER_SECOND = 15
const TOKENS_PER_SECOND = 20
const PIECE_BYTES = 8_192

const whole = oneModel({
  protocol: 'speech',
  path: '/audio/speech',
  model: SANDBOX_SPEECH_MODEL,
  answer: judged,
})

export const sandboxSpeech: PassedDialect = { ...whole, respond }

function respond(request: OfflineRequest): OfflineAnswer {
  const answer = whole.respond?.(request)
  if (answer === undefined) throw new Error('the sandbox answers by itself')
  if (answer.status !== 200) return answer
  const body = parseBody(request.body) ?? {}
  const input = typeof body['input'] === 'string' ? body['input'] : ''
  const sound = toneOf(charactersIn(input) / CHARACTERS_PER_SECOND)
  const streams = body['stream_format'] === 'sse'
  return {
    ...answer,
    headers: { ...answer.headers, 'content-type': streams ? 'text/event-stream' : 'audio/wav' },
    chunks: streams ? events(input, sound) : pieces(sound).map((data) => ({ data, afterMs: 0 })),
  }
}

function judged({ input }: JsonObject): Answered {
  if (typeof input !== 'string' || input === '')
    return new Mistake("'input' must be a text.", 'invalid_input')
  if (charactersIn(input) > CHARACTERS_MAX)
    return new Mistake(`'input' may have up to ${CHARACTERS_MAX} characters.`, 'string_above_max_length')
  return {}
}

function* events(input: string, sound: Uint8Array): Iterable<OfflineChunk> {
  for (const piece of pieces(sound)) yield event({ type: 'speech.audio.delta', audio: toBase64(piece) })
  const read = countTokens([input])
  const made = Math.ceil((charactersIn(input) / CHARACTERS_PER_SECOND) * TOKENS_PER_SECOND)
  yield event({
    type: 'speech.audio.done',
    usage: { input_tokens: read, output_tokens: made, total_tokens: read + made },
  })
}

function event(data: JsonObject): OfflineChunk {
  return { data: `data: ${JSON.stringify(data)}\n\n`, afterMs: 0 }
}

function pieces(sound: Uint8Array): readonly Uint8Array[] {
  const count = Math.ceil(sound.length / PIECE_BYTES)
  return Array.from({ length: count }, (_, at) => sound.subarray(at * PIECE_BYTES, (at + 1) * PIECE_BYTES))
}

/** Unicode code points. */
function charactersIn(text: string): number {
  return Array.from(text).length
}

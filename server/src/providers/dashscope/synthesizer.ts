/** Speech by CosyVoice and Qwen-Audio-TTS: another address than Qwen-TTS, with other formats and many more settings. */
import type { JsonObject, JsonValue } from '../../core/json.ts'
import { renamed } from '../dialects/rename.ts'
import { soundAsked, voiceName } from '../dialects/speech.ts'
import type { RewrittenRequest } from '../provider.ts'

export const SYNTHESIZER = '/api/v1/services/audio/tts/SpeechSynthesizer'

export function isSynthesized(model: JsonValue | undefined): boolean {
  return typeof model === 'string' && /^(?:cosyvoice|qwen-audio-[\d.]+-tts)/.test(model)
}

/** These do not support instructions. */
const UNINSTRUCTED = /^cosyvoice-(?:v2|v3-plus)/

/**
 * The vendor's own members that clients may also send. Excluded are those that replace the text by other words, which
 * would not be counted, and those that write the account into the sound.
 */
const NAMES = {
  input: 'text',
  speed: 'rate',
  volume: 'volume',
  pitch: 'pitch',
  bit_rate: 'bit_rate',
  seed: 'seed',
  language_hints: 'language_hints',
  enable_ssml: 'enable_ssml',
  enable_markdown_filter: 'enable_markdown_filter',
}
const OF_INSTRUCTED = { ...NAMES, instructions: 'instruction' }

/**
 * The vendor's names for the client's formats. WAV files are made from samples here, because their header contains the
 * length.
 */
const FORMATS: Readonly<Record<string, string>> = { mp3: 'mp3', opus: 'opus', wav: 'pcm', pcm: 'pcm' }
const TYPES: Readonly<Record<string, string>> = { mp3: 'audio/mpeg', opus: 'audio/ogg' }

/** Default sample rate, as at OpenAI. */
const RATE = 24_000

export function synthesizerRequest({
  model = null,
  voice,
  response_format: wanted,
  stream_format: events,
  sample_rate: rate,
  ...rest
}: JsonObject): RewrittenRequest {
  const isInstructed = typeof model !== 'string' || !UNINSTRUCTED.test(model)
  const { members, dropped } = renamed(rest, isInstructed ? OF_INSTRUCTED : NAMES)
  const known = typeof wanted === 'string' && Object.hasOwn(FORMATS, wanted) ? FORMATS[wanted] : undefined
  const format = known ?? 'mp3'
  const rateOfSamples = typeof rate === 'number' ? rate : RATE
  const sampleRate = format === 'pcm' ? rateOfSamples : rate
  return {
    body: {
      model,
      input: {
        ...members,
        voice: voiceName(voice),
        format,
        ...(sampleRate === undefined ? {} : { sample_rate: sampleRate }),
      },
    },
    dropped: [...dropped, ...(wanted === undefined || known !== undefined ? [] : ['response_format'])],
    context: {
      ...soundAsked({ response_format: wanted, stream_format: events }),
      type: TYPES[format] ?? null,
      rate: rateOfSamples,
    },
  }
}

/** Speech by MiniMax (`/v1/t2a_v2`): voice and format are objects, and the sound is hexadecimal text in a document. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import { passedDialect } from '../dialects/passed.ts'
import { renamed } from '../dialects/rename.ts'
import { soundAs, soundAsked, voiceName } from '../dialects/speech.ts'
import type { FormRewrite, PassedDialect } from '../provider.ts'
import { classifyRewritten, errorIn } from './failures.ts'

/** `opus` is documented for other interfaces of the vendor; it refuses unsupported formats. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['mp3', 'audio/mpeg'],
  ['wav', 'audio/wav'],
  ['flac', 'audio/flac'],
  ['pcm', 'audio/pcm'],
  ['opus', 'audio/opus'],
])

/**
 * The vendor's own members that clients may also send. Not `pronunciation_dict`, which replaces parts of the text by
 * words that would not be counted.
 */
const OWN = {
  model: 'model',
  input: 'text',
  language_boost: 'language_boost',
  timbre_weights: 'timbre_weights',
  timber_weights: 'timber_weights',
  voice_modify: 'voice_modify',
  voice_setting: 'voice_setting',
  audio_setting: 'audio_setting',
}

const rewrite: FormRewrite = {
  request: ({ voice, speed, response_format: format, stream_format: events, ...rest }) => {
    const { members, dropped } = renamed(rest, OWN)
    const { voice_setting: voiceSetting, audio_setting: audioSetting, ...others } = members
    return {
      body: {
        ...others,
        stream: false,
        output_format: 'hex',
        voice_setting: besides(voiceSetting, { voice_id: voiceName(voice), speed }),
        audio_setting: besides(audioSetting, { format }),
      },
      dropped,
      context: soundAsked({ response_format: format, stream_format: events }),
    }
  },
  answer: (body) => {
    const error = errorIn(body)
    if (error !== undefined) return { error }
    return isJsonObject(body['data']) ? {} : undefined
  },
  sound: ({ data, extra_info: info }, context) => {
    const hex = isJsonObject(data) ? data['audio'] : undefined
    if (typeof hex !== 'string' || hex === '') return undefined
    const bytes = Buffer.from(hex, 'hex')
    // Decoding stops at the first character that is not a digit.
    if (bytes.length * 2 !== hex.length) return undefined
    const made = isJsonObject(info) && typeof info['audio_format'] === 'string' ? info['audio_format'] : 'mp3'
    return soundAs({ type: TYPES.get(made) ?? 'application/octet-stream', bytes }, context)
  },
}

function besides(given: JsonValue | undefined, asked: JsonObject): JsonObject {
  const said = Object.entries(asked).filter(([, value]) => value !== undefined && value !== null)
  return { ...(isJsonObject(given) ? given : {}), ...Object.fromEntries(said) }
}

export const minimaxSpeech: PassedDialect = passedDialect({
  protocol: 'speech',
  path: '/t2a_v2',
  classify: classifyRewritten,
  rewrite,
})

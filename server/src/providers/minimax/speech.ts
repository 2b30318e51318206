/** Speech by MiniMax (`/v1/t2a_v2`): voice and format are objects, and the sound comes as hexadecimal text in a document. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import { passedDialect } from '../dialects/passed.ts'
import { renamed } from '../dialects/rename.ts'
import { soundAs, soundAsked, voiceName } from '../dialects/speech.ts'
import type { FormRewrite, PassedDialect } from '../provider.ts'
import { classify, codeIn, kindOfCode } from './failures.ts'

/** `opus` is documented for other interfaces of the vendor; it refuses formats it does not make. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['mp3', 'audio/mpeg'],
  ['wav', 'audio/wav'],
  ['flac', 'audio/flac'],
  ['pcm', 'audio/pcm'],
  ['opus', 'audio/opus'],
])

/** The vendor's own members, which a client may add. Not `pronunciation_dict`, which puts words that are not counted in place of the text. */
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
    const code = codeIn(body)
    if (code !== undefined && code !== 0) return { error: errorOf(code, body['base_resp']) }
    return isJsonObject(body['data']) ? {} : undefined
  },
  sound: ({ data, extra_info: info }, context) => {
    const hex = isJsonObject(data) ? data['audio'] : undefined
    if (typeof hex !== 'string' || hex === '') return undefined
    const bytes = Buffer.from(hex, 'hex')
    // Reading stops at the first character that is not a digit.
    if (bytes.length * 2 !== hex.length) return undefined
    const made = isJsonObject(info) && typeof info['audio_format'] === 'string' ? info['audio_format'] : 'mp3'
    return soundAs({ type: TYPES.get(made) ?? 'application/octet-stream', bytes }, context)
  },
}

/** Refusals come with status 200 as well. */
function errorOf(code: number, base: JsonValue | undefined): JsonObject {
  const kind = kindOfCode(code)
  const refused = kind === 'request' || kind === 'refused-content'
  return {
    message: isJsonObject(base) ? base['status_msg'] : undefined,
    type: refused ? 'invalid_request_error' : 'api_error',
    base_resp: base,
  }
}

function besides(given: JsonValue | undefined, asked: JsonObject): JsonObject {
  const said = Object.entries(asked).filter(([, value]) => value !== undefined && value !== null)
  return { ...(isJsonObject(given) ? given : {}), ...Object.fromEntries(said) }
}

export const minimaxSpeech: PassedDialect = passedDialect({
  protocol: 'speech',
  path: '/t2a_v2',
  // A failure inside a 200 is in the error of the rewritten answer.
  classify: (failure) => classify({ ...failure, body: innerOf(failure.body) }),
  rewrite,
})

function innerOf(body: JsonValue | undefined): JsonValue | undefined {
  const error = isJsonObject(body) ? body['error'] : undefined
  return codeIn(error) === undefined ? body : error
}

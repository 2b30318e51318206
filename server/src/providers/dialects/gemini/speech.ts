/** Speech by Gemini: a conversation of one turn with sound as its answer: raw samples, or a file from newer models. */
import { isJsonArray } from '../../../core/canonical/json-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.ts'
import type { FormRewrite, PassedDialect, Sound } from '../../provider.ts'
import { type GeminiPlace, generating, partsOf } from './generating.ts'
import { fromBase64 } from '../base64.ts'
import { reportedUsage } from './images.ts'
import { soundAs, soundAsked, voiceName } from '../speech.ts'
import { wavOf } from '../wav.ts'

/** Sample rate in hertz, if the media type does not contain it. */
const RATE = 24_000

const rewrite: FormRewrite = {
  request: ({ model, input = null, voice, response_format: format, stream_format: events, ...rest }) => {
    const { instructions, ...others } = rest
    const name = voiceName(voice)
    const led = typeof instructions === 'string' && typeof input === 'string' && takesInstructions(model)
    const speechConfig =
      name === undefined
        ? {}
        : { speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: name } } } }
    const isMade = format === undefined || format === 'wav' || format === 'pcm'
    return {
      body: {
        contents: [{ role: 'user', parts: [{ text: led ? `${instructions}: ${input}` : input }] }],
        generationConfig: { responseModalities: ['AUDIO'], ...speechConfig },
      },
      dropped: [...Object.keys(led ? others : rest), ...(isMade ? [] : ['response_format'])],
      context: soundAsked({ response_format: format, stream_format: events }),
    }
  },
  answer: ({ candidates, promptFeedback, usageMetadata }) => {
    if (promptFeedback !== undefined && !isJsonArray(candidates))
      return { error: { message: 'the prompt was blocked', code: 400, prompt_feedback: promptFeedback } }
    return isJsonArray(candidates) ? reportedUsage(usageMetadata) : undefined
  },
  sound: ({ candidates, usageMetadata }, context) => {
    const made = soundIn(candidates, context['format'] === 'pcm')
    return made && soundAs(made, context, usageIn(usageMetadata))
  },
}

/** These models accept instructions before the text; later ones would read them aloud. */
function takesInstructions(model: JsonValue | undefined): boolean {
  return typeof model === 'string' && /^gemini-(?:2\.5|3\.1)-/.test(model)
}

function usageIn(usage: JsonValue | undefined): JsonObject | undefined {
  const told = reportedUsage(usage)['usage']
  return isJsonObject(told) ? told : undefined
}

function soundIn(candidates: JsonValue | undefined, raw: boolean): Sound | undefined {
  const pieces = soundPieces(candidates)
  const [first] = pieces
  if (first === undefined) return undefined
  const decoded = pieces.map(({ data }) => fromBase64(data))
  const whole = decoded.filter((piece) => piece !== undefined)
  const bytes = Buffer.concat(whole)
  if (whole.length < decoded.length || bytes.length === 0) return undefined
  const { type } = first
  if (!/^audio\/(?:l16|pcm)\b/i.test(type)) return { type, bytes }
  // Samples have two bytes.
  if (bytes.length % 2 === 1) return undefined
  if (raw) return { type: 'audio/pcm', bytes }
  const rate = Number(/rate=([1-9]\d{3,5})\b/.exec(type)?.[1] ?? RATE)
  return { type: 'audio/wav', bytes: wavOf(bytes, rate) }
}

/** A media type of sound that a header may hold: it becomes the type of the answer. */
const SOUND_TYPE = /^audio\/[\x20-\x7e]+$/i

function soundPieces(
  candidates: JsonValue | undefined,
): readonly { readonly type: string; readonly data: string }[] {
  const first = isJsonArray(candidates) ? candidates[0] : undefined
  return partsOf(first).flatMap(({ inlineData: inline }) => {
    if (!isJsonObject(inline)) return []
    const { mimeType: type, data } = inline
    const isSound = typeof type === 'string' && SOUND_TYPE.test(type)
    return isSound && typeof data === 'string' ? [{ type, data }] : []
  })
}

export function geminiSpeech(place: GeminiPlace): PassedDialect {
  return generating('speech', rewrite, place)
}

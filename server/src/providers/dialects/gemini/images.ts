/** Images by Gemini: a conversation of one turn with an image as its answer. One call makes one image. */
import { isJsonArray } from '../../../core/canonical/json-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.ts'
import { parseSize, ratioOfSize } from '../../../core/video/size.ts'
import type { FormRewrite, PassedDialect } from '../../provider.ts'
import { type GeminiPlace, generating, partsOf } from './generating.ts'
import { GENERATIONS } from '../images-dialect.ts'

const RATIOS = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9']

const rewrite: FormRewrite = {
  request: ({ model: _model, prompt = null, size, ...rest }) => {
    const ratio = ratioOf(size)
    const imageConfig = ratio === undefined ? {} : { imageConfig: { aspectRatio: ratio } }
    const isUnsaid = (name: string) => name === 'n' && rest[name] === 1
    return {
      body: {
        contents: [{ role: 'user', parts: [{ text: prompt }] }],
        generationConfig: { responseModalities: ['IMAGE'], ...imageConfig },
      },
      dropped: Object.keys(size !== undefined && ratio === undefined ? { ...rest, size } : rest).filter(
        (name) => !isUnsaid(name),
      ),
      context: {},
    }
  },
  answer: ({ candidates, promptFeedback, usageMetadata }) => {
    if (!isJsonArray(candidates) && promptFeedback === undefined) return undefined
    return { data: picturesIn(candidates), ...reportedUsage(usageMetadata) }
  },
}

function ratioOf(size: JsonValue | undefined): string | undefined {
  const parsed = typeof size === 'string' ? parseSize(size) : undefined
  return parsed === undefined ? undefined : ratioOfSize(parsed, RATIOS)
}

/** Thoughts may hold sketches, which are not part of the answer. */
function picturesIn(candidates: JsonValue | undefined): readonly JsonObject[] {
  if (!isJsonArray(candidates)) return []
  return candidates
    .flatMap(partsOf)
    .flatMap(({ thought, inlineData: data }) =>
      thought !== true && isJsonObject(data) && typeof data['data'] === 'string'
        ? [{ b64_json: data['data'] }]
        : [],
    )
}

/** Empty if the vendor reports nothing. */
export function reportedUsage(usage: JsonValue | undefined): JsonObject {
  if (!isJsonObject(usage)) return {}
  const count = (name: string) => (typeof usage[name] === 'number' ? usage[name] : undefined)
  const [made, thought] = [count('candidatesTokenCount'), count('thoughtsTokenCount')]
  const input = count('promptTokenCount') ?? 0
  const output = (made ?? 0) + (thought ?? 0)
  const isMadeTold = made !== undefined || thought !== undefined
  return {
    usage: {
      input_tokens: input,
      ...(isMadeTold ? { output_tokens: output } : {}),
      total_tokens: input + output,
    },
  }
}

export function geminiImages(place: GeminiPlace): PassedDialect {
  return { ...generating('images', rewrite, place), paths: [GENERATIONS], makesOne: () => true }
}

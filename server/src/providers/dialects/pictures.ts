/** Images of vendors with a form of their own: reads requests in OpenAI's form, and builds the answers. */
import { isJsonArray } from '../../core/canonical/json-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import { parseSize, ratioOfSize } from '../../core/video/size.ts'

/** Members of OpenAI's own models: others do not have them, or use the names for something else. */
const OF_OPENAI = ['background', 'input_fidelity', 'moderation', 'output_compression', 'quality'] as const
/** Members without a counterpart at vendors that return whole images. */
const WITHOUT_PLACE = ['partial_images', 'stream', 'style', 'user']
/**
 * Only the gateway decides the number (it is held and charged), the form of delivery and notifications. Names used by
 * many makers, because a vendor may pass orders on to all of them.
 */
const RESERVED: ReadonlySet<string> = new Set([
  'batch_size',
  'callback',
  'callback_url',
  'max_images',
  'n_images',
  'num_images',
  'num_images_per_prompt',
  'num_outputs',
  'num_samples',
  'number_of_images',
  'samples',
  'sequential_image_generation',
  'sync_mode',
  'webhook',
  'webhook_events_filter',
  'webhook_url',
])

/** What the answer needs from the request: whether images are wanted as bytes (`linkedPictures`). */
export function picturesAsked({ response_format: format }: JsonObject): JsonObject {
  return { bytes: format === 'b64_json' }
}

/** Unknown members are passed on unchanged: each model has its own. `openai`: it is one of OpenAI's. */
export function ownMembers(
  members: JsonObject,
  { openai }: { readonly openai: boolean },
): { readonly members: JsonObject; readonly dropped: readonly string[] } {
  const withoutPlace = new Set<string>(openai ? WITHOUT_PLACE : [...WITHOUT_PLACE, ...OF_OPENAI])
  const said = Object.entries(members).filter(([, value]) => value !== undefined && value !== null)
  const isKept = ([name]: readonly [string, unknown]) => !RESERVED.has(name) && !withoutPlace.has(name)
  return {
    members: Object.fromEntries(said.filter(isKept)),
    dropped: said.filter((entry) => !isKept(entry)).map(([name]) => name),
  }
}

/** `pixels`: width and height. A list: the supported ratios. `text`: as OpenAI writes it. */
export type PictureShape = 'pixels' | 'text' | readonly string[]

/** The size in the model's form; undefined: none was requested, or the model cannot express it. */
export function shapeOf(size: JsonValue | undefined, shape: PictureShape): JsonValue | undefined {
  const parsed = typeof size === 'string' ? parseSize(size) : undefined
  if (parsed === undefined) return undefined
  if (shape === 'pixels') return { ...parsed }
  if (shape === 'text') return `${parsed.width}x${parsed.height}`
  return ratioOfSize(parsed, shape)
}

/** Pictures of a vendor that returns their bytes, as a list in base64. */
export function picturesInBase64(made: JsonValue | undefined): readonly JsonObject[] {
  const all = isJsonArray(made) ? made : []
  return all.flatMap((picture) =>
    typeof picture === 'string' && picture !== '' ? [{ b64_json: picture }] : [],
  )
}

/** Whether a size was requested. */
export function isSize(size: JsonValue | undefined): boolean {
  return size !== undefined && size !== null && size !== 'auto'
}

/** A number may be sent as text. */
export function countOf(n: JsonValue | undefined): JsonValue | undefined {
  return typeof n === 'string' && /^\d{1,3}$/.test(n) ? Number(n) : (n ?? undefined)
}

const INLINE = /^data:image\/[\w.+-]+;base64,/i

/**
 * All images in a model's output: addresses and `data:` addresses, single, in lists, or in objects that contain one.
 */
export function picturesIn(made: JsonValue | undefined): readonly JsonObject[] {
  if (isJsonArray(made)) return made.flatMap(picturesIn)
  if (isJsonObject(made)) return picturesIn(made['url'] ?? made['image'] ?? made['images'])
  if (typeof made !== 'string') return []
  const inline = INLINE.exec(made)?.[0]
  if (inline !== undefined) return [{ b64_json: made.slice(inline.length) }]
  return /^https?:\/\//i.test(made) ? [{ url: made }] : []
}

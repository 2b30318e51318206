/** Pictures of vendors that have a form of their own: what clients ask for in OpenAI's, and what they get. */
import { isJsonArray } from '../../core/canonical/json-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import { parseSize, ratioOfSize } from '../../core/video/size.ts'

/** Of OpenAI's own models: others have no such thing, or mean something else by its name. */
const OF_OPENAI = ['background', 'input_fidelity', 'moderation', 'output_compression', 'quality'] as const
/** Nothing that is made as a whole, and for nobody in particular, has a place for these. */
const WITHOUT_PLACE = ['partial_images', 'stream', 'style', 'user']
/**
 * Only the gateway says how many (they are held and paid for), in which way they come, and who is told. Names of many makers,
 * since a vendor passes orders on to all of them.
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

/** What stands in the answer's way from the request: whether pictures are wanted as bytes (`linkedPictures`). */
export function picturesAsked({ response_format: format }: JsonObject): JsonObject {
  return { bytes: format === 'b64_json' }
}

/** Members nobody knows here go on unchanged: each model has its own. `openai`: it is one of OpenAI's. */
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

/** `pixels`: width and height. A list: of ratios it has. `text`: as OpenAI writes it. */
export type PictureShape = 'pixels' | 'text' | readonly string[]

/** The size as a model takes it; undefined: none was asked for, or it has no place for this one. */
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

/** A size that says something. */
export function isSize(size: JsonValue | undefined): boolean {
  return size !== undefined && size !== null && size !== 'auto'
}

/** A number that a client wrote as a text is one. */
export function countOf(n: JsonValue | undefined): JsonValue | undefined {
  return typeof n === 'string' && /^\d{1,3}$/.test(n) ? Number(n) : (n ?? undefined)
}

const INLINE = /^data:image\/[\w.+-]+;base64,/i

/** All pictures in what a model made: addresses and `data:` addresses, alone, in lists, or in objects that have one. */
export function picturesIn(made: JsonValue | undefined): readonly JsonObject[] {
  if (isJsonArray(made)) return made.flatMap(picturesIn)
  if (isJsonObject(made)) return picturesIn(made['url'] ?? made['image'] ?? made['images'])
  if (typeof made !== 'string') return []
  const inline = INLINE.exec(made)?.[0]
  if (inline !== undefined) return [{ b64_json: made.slice(inline.length) }]
  return /^https?:\/\//i.test(made) ? [{ url: made }] : []
}

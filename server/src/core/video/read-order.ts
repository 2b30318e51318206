/**
 * Turns fields into an order (docs/reference/contract.md#4.4): known fields are read, aliases included, everything else
 * is passed on.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { type FormFields, type FormValue, isFormFields, isFormFile, isFormList } from './form.ts'
import { type DecodeBase64, type ReadMedia, readMedia, readMediaList } from './media.ts'
import type { VideoMedia, VideoRequest } from './request.ts'
import { parseSize } from './size.ts'

export interface VideoOrderFields {
  readonly model: string
  readonly user: string | undefined
  readonly request: VideoRequest
  /** Fields the client sent that are not passed upstream, by their names. */
  readonly dropped: readonly string[]
  /** `size` as sent, trimmed. */
  readonly size: string
}

export type ReadOrder =
  | { readonly kind: 'order'; readonly order: VideoOrderFields }
  | { readonly kind: 'refused'; readonly code: 40000 | 40002; readonly message: string | undefined }

/** Prompt before model, as the contract lists them (docs/reference/contract.md#7.1-02, #7.1-03). */
export function readOrder(fields: FormFields, decode: DecodeBase64): ReadOrder {
  const twice = ['prompt', 'model'].find((name) => isFormList(fields[name]))
  if (twice !== undefined) return { kind: 'refused', code: 40000, message: `${twice} must be given once` }
  const prompt = textOf(fields['prompt'])
  if (prompt === undefined || prompt.trim() === '') {
    return { kind: 'refused', code: 40000, message: 'prompt is required' }
  }
  const model = textOf(fields['model'])?.trim()
  if (model === undefined || model === '') return { kind: 'refused', code: 40002, message: undefined }
  const media = readAllMedia(fields, decode)
  if (media.kind === 'refused') return { kind: 'refused', code: 40000, message: media.message }
  const size = textOf(fields['size'])?.trim() ?? ''
  return {
    kind: 'order',
    order: {
      model,
      user: textOf(fields['user']),
      size,
      request: {
        prompt,
        seconds: readSecondsText(fields),
        size: parseSize(size),
        ...media.media,
        ratio: firstText(fields, ['ratio', 'aspect_ratio', 'aspectRatio']),
        resolution: firstText(fields, ['resolution']),
        referenceVideos: addresses(fields['reference_videos']),
        referenceAudios: addresses(fields['reference_audios']),
        negativePrompt: firstText(fields, ['negative_prompt', 'negativePrompt']),
        generateAudio: firstFlag(fields, AUDIO_FLAGS),
        seed: numberOf(fields['seed']),
        watermark: firstFlag(fields, WATERMARK_FLAGS),
        promptExtend: firstFlag(fields, EXTEND_FLAGS),
        extras: extrasOf(fields),
      },
      dropped: Object.keys(fields).filter((name) => isWithheld(name) && fields[name] !== undefined),
    },
  }
}

/** `seconds` as sent, else `duration` under its usual names: whichever declares the length is billed. */
function readSecondsText(fields: FormFields): string | undefined {
  return firstText(fields, ['seconds', ...SECONDS_ALIASES])
}

const SECONDS_ALIASES = ['duration', 'duration_seconds', 'durationSeconds'] as const

type Media = Pick<VideoRequest, 'firstFrame' | 'lastFrame' | 'referenceImages'>

function readAllMedia(
  fields: FormFields,
  decode: DecodeBase64,
):
  | { readonly kind: 'media'; readonly media: Media }
  | { readonly kind: 'refused'; readonly message: string } {
  const first = readMedia(fields['input_reference'], 'input_reference', decode)
  const last = readMedia(fields['image_tail'], 'image_tail', decode)
  const references = readMediaList(fields['reference_images'], 'reference_images', decode)
  for (const read of [first, last, ...references]) if (read.kind === 'refused') return read
  return {
    kind: 'media',
    media: {
      firstFrame: found(first),
      lastFrame: found(last),
      referenceImages: references.map(found).filter((media) => media !== undefined),
    },
  }
}

function found(read: ReadMedia): VideoMedia | undefined {
  return read.kind === 'media' ? read.media : undefined
}

const AUDIO_FLAGS = ['generate_audio', 'audio', 'with_audio', 'sound'] as const
const WATERMARK_FLAGS = ['watermark'] as const
const EXTEND_FLAGS = ['prompt_extend', 'prompt_optimizer', 'enhance_prompt'] as const
/** Some vendors have objects or values of their own under these names: anything but a flag is passed on. */
const FLAGS: ReadonlySet<string> = new Set([...AUDIO_FLAGS, ...WATERMARK_FLAGS, ...EXTEND_FLAGS])

/** Fields that the order has itself. */
const READ: ReadonlySet<string> = new Set([
  'model',
  'prompt',
  'user',
  'seconds',
  ...SECONDS_ALIASES,
  'size',
  'input_reference',
  'image_tail',
  'reference_images',
  'reference_videos',
  'reference_audios',
  'ratio',
  'aspect_ratio',
  'aspectRatio',
  'resolution',
  'negative_prompt',
  'negativePrompt',
  'seed',
  'stream',
])

/**
 * Never passed on: addresses that the vendor would call; several results when one is billed; another length or model
 * than the billed ones; queues that finish after two days. Compared without case, blanks and separators, which some
 * upstreams ignore.
 */
const WITHHELD: ReadonlySet<string> = new Set(
  (
    'callback callback_url webhook webhook_url webhook_events_filter off_peak service_tier ' +
    'n n_variants num_videos number_of_videos num_outputs num_results num_samples sample_count batch_size ' +
    'seconds duration duration_seconds n_seconds num_seconds duration_sec duration_secs duration_ms ' +
    'length video_length video_duration output_duration ' +
    'frames num_frames n_frames max_frames frame_count total_frames ' +
    'model model_id model_name size resolution'
  )
    .split(' ')
    .map(plainName),
)

function isWithheld(name: string): boolean {
  return !READ.has(name) && WITHHELD.has(plainName(name))
}

function plainName(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
}

function extrasOf(fields: FormFields): JsonObject {
  const extras: Record<string, JsonValue> = {}
  for (const [name, value] of Object.entries(fields)) {
    if (READ.has(name) || isWithheld(name) || value === undefined) continue
    if (FLAGS.has(name) && flagOf(value) !== undefined) continue
    const json = jsonOf(value)
    if (json !== undefined) extras[name] = json
  }
  return extras
}

/** A file in an unknown field cannot be passed on in any form. */
function jsonOf(value: FormValue): JsonValue | undefined {
  if (isFormFile(value)) return undefined
  if (isFormList(value)) {
    return value.map((item) => jsonOf(item)).filter((item) => item !== undefined)
  }
  if (!isFormFields(value)) return isJsonLeaf(value) ? value : undefined
  const object: Record<string, JsonValue> = {}
  for (const [name, item] of Object.entries(value)) {
    const json = item === undefined ? undefined : jsonOf(item)
    if (json !== undefined) object[name] = json
  }
  return object
}

function isJsonLeaf(value: FormValue): value is null | boolean | number | string {
  return value === null || ['boolean', 'number', 'string'].includes(typeof value)
}

function firstText(fields: FormFields, names: readonly string[]): string | undefined {
  for (const name of names) {
    const text = textOf(fields[name])?.trim()
    if (text !== undefined && text !== '') return text
  }
  return undefined
}

/** Numbers are accepted as text: `seconds: 8`. */
function textOf(value: FormValue | undefined): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : undefined
}

function numberOf(value: FormValue | undefined): number | undefined {
  const number = typeof value === 'string' && /^-?\d{1,15}$/.test(value.trim()) ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

const YES: ReadonlySet<string> = new Set(['true', 'on', '1', 'yes', 'enabled', 'native'])
const NO: ReadonlySet<string> = new Set(['false', 'off', '0', 'no', 'disabled'])

function firstFlag(fields: FormFields, names: readonly string[]): boolean | undefined {
  for (const name of names) {
    const flag = flagOf(fields[name])
    if (flag !== undefined) return flag
  }
  return undefined
}

/** Forms can only send text, and some vendors use `on` and `off`. */
function flagOf(value: FormValue | undefined): boolean | undefined {
  if (typeof value === 'boolean') return value
  const word = textOf(value)?.trim().toLowerCase()
  if (word === undefined) return undefined
  if (YES.has(word)) return true
  return NO.has(word) ? false : undefined
}

/** Addresses, each as text or as an object with an address. */
function addresses(value: FormValue | undefined): readonly string[] {
  if (value === undefined) return []
  const list = isFormList(value) ? value : [value]
  return list.flatMap((item) => {
    const text = typeof item === 'string' ? item : isJsonObject(item) ? item['url'] : undefined
    return typeof text === 'string' && /^https?:\/\//i.test(text.trim()) ? [text.trim()] : []
  })
}

/** No vendor makes a shorter video: less than this declares no length, and the vendor chooses its own. */
const SECONDS_LEAST = 1
const SECONDS_MAX = 999_999_999

/**
 * The length an order declares: what is billed and shown (docs/reference/contract.md#4.4, #8-25). Text that is no
 * positive number declares no length, `-1` and `0` included, which for some vendors mean a length of their choice. What
 * a lenient parser reads as a number is that number: `4e1`, `1_0`, `0x10`, `１２`.
 */
export function declaredSeconds(text: string | undefined): number | undefined {
  if (text === undefined || text.length > 40) return undefined
  const written = text.normalize('NFKC').replace(/[_\s]/g, '')
  const number = /^(\+?[\d.]+(e[+-]?\d+)?|0[xob][\da-f]+)$/i.test(written) ? Number(written) : Number.NaN
  if (!(number >= SECONDS_LEAST && number <= SECONDS_MAX)) return undefined
  return Number(number.toFixed(DECIMALS_MAX))
}

/** As for amounts. */
const DECIMALS_MAX = 6

/** What is billed, what is shown, and what is sent to the vendor (docs/reference/contract.md#D-video-18). */
export interface OrderedSeconds {
  readonly billed: number
  /** Shown as `seconds`. */
  readonly shown: string
  /** undefined: the client's text is sent as it is. */
  readonly sent: number | undefined
}

export function orderSeconds(text: string | undefined, vendorDefault: number): OrderedSeconds {
  const declared = declaredSeconds(text)
  if (declared !== undefined) return { billed: declared, shown: text ?? '', sent: declared }
  const speaks = text !== undefined && /[^\d.+-]/.test(text)
  return { billed: vendorDefault, shown: String(vendorDefault), sent: speaks ? undefined : vendorDefault }
}

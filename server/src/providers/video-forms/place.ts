/**
 * Where the fields of a video order go in a vendor's form. Fields without a counterpart are dropped and reported, so
 * nothing disappears silently (docs/reference/contract.md#4.4).
 */
import type { JsonObject } from '../../core/json.ts'
import type { VideoRequest } from '../../core/video/request.ts'
import { textIn } from './json.ts'

/** Fields as clients name them. `prompt` is not among them: every vendor has it. */
const CLIENT_FIELDS = [
  'seconds',
  'size',
  'ratio',
  'resolution',
  'input_reference',
  'image_tail',
  'reference_images',
  'reference_videos',
  'reference_audios',
  'negative_prompt',
  'generate_audio',
  'seed',
  'watermark',
  'prompt_extend',
] as const

export type ClientField = (typeof CLIENT_FIELDS)[number]

export interface Placing {
  /**
   * What each field becomes; `{}` if it is written elsewhere in the form. Absent or undefined: no counterpart. Members
   * from `size` have the lowest precedence, because they are only implied.
   */
  readonly members: Readonly<Partial<Record<ClientField, JsonObject | undefined>>>
  /** Names in the vendor's form that a client's own fields may not use, besides those that are never passed. */
  readonly reserved?: readonly string[]
}

export interface Placed {
  readonly members: JsonObject
  readonly dropped: readonly string[]
}

export function placeFields(request: VideoRequest, { members, reserved = [] }: Placing): Placed {
  const { size, ...others } = members
  const kept = keptExtras(request.extras, reserved)
  const asked = askedFields(request)
  return {
    members: merged([size, ...Object.values(others), kept.members]),
    dropped: [...asked.filter((field) => members[field] === undefined), ...kept.dropped],
  }
}

/** Merged left to right; a member that is undefined changes nothing. */
export function merged(layers: readonly (JsonObject | undefined)[]): JsonObject {
  const entries = layers.flatMap((layer) => Object.entries(layer ?? {}))
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

/**
 * What only the gateway decides, whatever the vendor: the model, the length (it is billed), the number, notifications,
 * and queues that take hours, longer than a call can wait (docs/protocols.md#video-4).
 */
const NEVER_PASSED: ReadonlySet<string> = new Set([
  'model',
  'prompt',
  'stream',
  'n',
  'duration',
  'callback',
  'callback_url',
  'webhook',
  'webhook_url',
  'off_peak',
])

function keptExtras(extras: JsonObject, reserved: readonly string[]): Placed {
  const refused = (name: string): boolean =>
    NEVER_PASSED.has(name) ||
    reserved.includes(name) ||
    (name === 'service_tier' && /^flex$/i.test(textIn(extras[name]) ?? ''))
  const names = Object.keys(extras)
  return {
    members: Object.fromEntries(names.filter((name) => !refused(name)).map((name) => [name, extras[name]])),
    dropped: names.filter(refused),
  }
}

function askedFields(request: VideoRequest): readonly ClientField[] {
  const asked: Readonly<Record<ClientField, boolean>> = {
    seconds: request.seconds !== undefined,
    size: request.size !== undefined,
    ratio: request.ratio !== undefined,
    resolution: request.resolution !== undefined,
    input_reference: request.firstFrame !== undefined,
    image_tail: request.lastFrame !== undefined,
    reference_images: request.referenceImages.length > 0,
    reference_videos: request.referenceVideos.length > 0,
    reference_audios: request.referenceAudios.length > 0,
    negative_prompt: request.negativePrompt !== undefined,
    generate_audio: request.generateAudio !== undefined,
    seed: request.seed !== undefined,
    watermark: request.watermark !== undefined,
    prompt_extend: request.promptExtend !== undefined,
  }
  return CLIENT_FIELDS.filter((field) => asked[field])
}

/** Size, ratio and resolution of an order in the forms vendors have for them. Explicit values are never changed. */
import type { JsonObject } from '../../core/json.ts'
import type { VideoRequest } from '../../core/video/request.ts'
import {
  parseSize,
  ratioOfSize,
  sizeNearest,
  sizeOfRatio,
  type TierWords,
  tierOfResolution,
  tierOfSize,
  tierWordOf,
} from '../../core/video/size.ts'
import type { ClientField } from './place.ts'

type ShapePlaces = Readonly<
  Record<Extract<ClientField, 'size' | 'ratio' | 'resolution'>, JsonObject | undefined>
>

/** A vendor that accepts a ratio and a resolution. */
export interface Shape {
  readonly names: { readonly ratio: string; readonly resolution: string }
  /** Ratios that a size is mapped to; none: the ratio follows the image. */
  readonly ratios: readonly string[]
  /** Words that a size is mapped to. */
  readonly tiers: TierWords
  /** How resolutions are written. */
  readonly letterCase: 'lower' | 'upper'
}

export function shapePlaces(request: VideoRequest, shape: Shape): ShapePlaces {
  const { names, letterCase, tiers } = shape
  const { resolution } = request
  const tier = resolution === undefined ? undefined : tierOfResolution(resolution)
  const word = (tier === undefined ? undefined : tiers[tier]) ?? resolution
  return {
    size: derived(request, shape),
    ratio: { [names.ratio]: request.ratio },
    resolution: { [names.resolution]: letterCase === 'upper' ? word?.toUpperCase() : word?.toLowerCase() },
  }
}

function derived({ size }: VideoRequest, { names, ratios, tiers }: Shape): JsonObject | undefined {
  if (size === undefined) return undefined
  const ratio = ratioOfSize(size, ratios)
  const resolution = tierWordOf(size, tiers)
  if (ratio === undefined && resolution === undefined) return undefined
  return { [names.ratio]: ratio, [names.resolution]: resolution }
}

/** A vendor that accepts one of a list of pixel sizes: all three fields together choose one. */
export function pixelPlaces(name: string, pixels: string | undefined): ShapePlaces {
  const place = pixels === undefined ? undefined : { [name]: pixels }
  return { size: place, ratio: place, resolution: place }
}

/** undefined: nothing was requested, or no entry has the requested ratio. */
export function pixelsOf(request: VideoRequest, offered: readonly string[]): string | undefined {
  const { ratio, resolution, size } = request
  // Requested by the vendor's own name.
  const named = offered.find((entry) => [ratio, resolution].some((text) => sameSize(entry, text)))
  if (named !== undefined) return named
  if (ratio === undefined && resolution === undefined) {
    return size === undefined ? undefined : sizeNearest(size, offered)
  }
  const exact = resolution === undefined ? undefined : parseSize(resolution)
  if (exact !== undefined && ratio === undefined) return sizeNearest(exact, offered)
  const asked = resolution === undefined ? undefined : tierOfResolution(resolution)
  const sized = exact ?? size
  return sizeOfRatio(
    {
      ratio: ratio ?? (size === undefined ? '16:9' : `${size.width}:${size.height}`),
      tier: asked ?? (sized === undefined ? '720p' : tierOfSize(sized)),
    },
    offered,
  )
}

function sameSize(entry: string, text: string | undefined): boolean {
  const one = parseSize(entry)
  const other = text === undefined ? undefined : parseSize(text)
  return one !== undefined && one.width === other?.width && one.height === other.height
}

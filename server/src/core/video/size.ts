/**
 * Converts the pixels a client asks for into what vendors accept instead: a ratio, a resolution step, or the nearest
 * size of a list. What cannot be converted is `undefined` and left out (docs/reference/contract.md#4.4).
 */
import type { VideoSize } from './request.ts'

/** Resolution steps by the pixel area of their 16:9 frame. */
const TIER_AREAS = {
  '480p': 854 * 480,
  '540p': 960 * 540,
  '720p': 1280 * 720,
  '768p': 1366 * 768,
  '1080p': 1920 * 1080,
  '2k': 2560 * 1440,
  '4k': 3840 * 2160,
} as const

export type Tier = keyof typeof TIER_AREAS

/** Smallest first. */
const TIERS: readonly Tier[] = ['480p', '540p', '720p', '768p', '1080p', '2k', '4k']

/**
 * A vendor's own word for each step it has. A step without a word of its own has its neighbour's: for a vendor whose
 * 720-line step is called 768P, `720p` maps to it as well.
 */
export type TierWords = Readonly<Partial<Record<Tier, string>>>

/** Vendors' pixel tables are rounded to their encoders' blocks: 832x480 is offered as 16:9 and is 2.5 % off. */
const RATIO_ERROR_MAX = 0.03

/** The step whose area is nearest. */
export function tierOfSize(size: VideoSize): Tier {
  return nearest(TIERS, (tier) => Math.abs(TIER_AREAS[tier] - areaOf(size))) ?? '720p'
}

/** The vendor's word for the nearest step; if it lacks that step, for the next lower one it has, else its lowest. */
export function tierWordOf(size: VideoSize, words: TierWords): string | undefined {
  const tier = stepAtMost(
    tierOfSize(size),
    TIERS.filter((step) => words[step] !== undefined),
  )
  return tier === undefined ? undefined : words[tier]
}

/** The nearest ratio of a vendor's list, such as `16:9`; undefined when none is within 3 %. */
export function ratioOfSize(size: VideoSize, allowed: readonly string[]): string | undefined {
  const wanted = size.width / size.height
  const found = nearest(allowed, (ratio) => ratioError(wanted, ratio))
  return found !== undefined && ratioError(wanted, found) <= RATIO_ERROR_MAX ? found : undefined
}

/**
 * The entry of a vendor's list of pixel sizes (`1280x720`, `1280*720`, `1280:720`) that has the ratio of `size` within
 * 3 %, and of those the one of its step or the next lower; undefined when no entry has the ratio.
 */
export function sizeNearest(size: VideoSize, offered: readonly string[]): string | undefined {
  return pickSize(size.width / size.height, tierOfSize(size), offered)
}

/** The entry of a vendor's list that has this ratio at this step or the next lower one. */
export function sizeOfRatio(
  { ratio, tier }: { readonly ratio: string; readonly tier: Tier },
  offered: readonly string[],
): string | undefined {
  const wanted = ratioValue(ratio)
  return wanted === undefined ? undefined : pickSize(wanted, tier, offered)
}

/** `1280x720`, also with `*` or `:`; undefined for anything else. */
export function parseSize(text: string): VideoSize | undefined {
  const found = /^(\d{2,5})[x*:](\d{2,5})$/i.exec(text.trim())
  const size = { width: Number(found?.[1]), height: Number(found?.[2]) }
  return size.width > 0 && size.height > 0 ? size : undefined
}

/** The step an explicit resolution names: `720p`, `720P`, `1440p`, `4K`; undefined: none of them. */
export function tierOfResolution(resolution: string): Tier | undefined {
  const word = resolution.trim().toLowerCase()
  const name = word === '1440p' ? '2k' : word === '2160p' ? '4k' : word
  return TIERS.find((tier) => tier === name)
}

function pickSize(wanted: number, tier: Tier, offered: readonly string[]): string | undefined {
  const near = offered.filter((entry) => ratioError(wanted, entry) <= RATIO_ERROR_MAX)
  const steps = TIERS.filter((step) => near.some((entry) => tierOfEntry(entry) === step))
  const chosen = stepAtMost(tier, steps)
  return nearest(
    near.filter((entry) => tierOfEntry(entry) === chosen),
    (entry) => ratioError(wanted, entry),
  )
}

function tierOfEntry(entry: string): Tier | undefined {
  const size = parseSize(entry)
  return size === undefined ? undefined : tierOfSize(size)
}

/** `had` is sorted, smallest first. */
function stepAtMost(tier: Tier, had: readonly Tier[]): Tier | undefined {
  return had.findLast((step) => TIER_AREAS[step] <= TIER_AREAS[tier]) ?? had[0]
}

function ratioError(wanted: number, entry: string): number {
  const value = ratioValue(entry)
  return value === undefined ? Number.POSITIVE_INFINITY : Math.abs(wanted - value) / value
}

/** The ratio of `16:9`, `1280x720` or `1280*720`. */
function ratioValue(text: string): number | undefined {
  const found = /^(\d+)[x*:](\d+)$/i.exec(text.trim())
  const value = Number(found?.[1]) / Number(found?.[2])
  return Number.isFinite(value) && value > 0 ? value : undefined
}

function areaOf(size: VideoSize): number {
  return size.width * size.height
}

function nearest<Entry>(entries: readonly Entry[], distance: (entry: Entry) => number): Entry | undefined {
  let best: Entry | undefined
  let least = Number.POSITIVE_INFINITY
  for (const entry of entries) {
    const far = distance(entry)
    if (far < least) {
      best = entry
      least = far
    }
  }
  return best
}

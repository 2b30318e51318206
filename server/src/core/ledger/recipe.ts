/** How a price was calculated: a call's recipe, line by line. */
import type { AppliedSurcharge } from '../pricing/surcharges.ts'

export type UsageSource = 'upstream' | 'estimated' | 'declared'

/** The exact amount of a call with everything needed to recompute it; JSON in the log row. */
export interface Recipe {
  /** Currency of the prices; absent: the prices are in Credits, or an older release wrote the recipe. */
  readonly currency?: string
  readonly creditsPerUnit: string
  readonly rateMultiplier: string
  readonly userRate: string
  /** quantity × price (for `per` units), before multipliers. */
  readonly lines: readonly RecipeLine[]
  /** Money for each use on top of the lines, or what the lines are multiplied by; absent: none. */
  readonly surcharges?: readonly AppliedSurcharge[]
  /** µCr, after the one half-even rounding, decimal text of an integer. */
  readonly amount: string
}

/** Older builds wrote the rate under another name, and knew one currency. */
export type StoredRecipe = Omit<Recipe, 'creditsPerUnit'> & {
  readonly creditsPerUnit?: string
  readonly creditsPerYuan?: string
}

/** Reads what this build or an older one wrote. */
export function readRecipe({ creditsPerUnit, creditsPerYuan, ...rest }: StoredRecipe): Recipe {
  return { ...rest, creditsPerUnit: creditsPerUnit ?? creditsPerYuan ?? '' }
}

export interface RecipeLine {
  readonly class:
    | 'input'
    | 'cached_input'
    | 'cache_write'
    | 'cache_write_1h'
    | 'output'
    | 'image'
    | 'video_second'
    | 'request'
    | 'character'
    | 'audio_second'
  readonly quantity: number
  readonly price: string
  readonly per: 1 | 1_000_000
}

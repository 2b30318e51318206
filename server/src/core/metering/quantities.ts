/**
 * The quantities of a call that windows limit and prices bill. A quantity is named here and where it is measured;
 * everything from admission to settlement and recovery carries them as a whole.
 */
import { NO_USAGE, type Usage } from '../canonical/usage.ts'

/** What a call takes from windows when it is admitted, given back if the upstream never generated. */
export interface Counts {
  readonly requests: number
  readonly images: number
  readonly videos: number
  /** Held at admission, charged at settlement. */
  readonly videoSeconds: number
  /** Of speech; held and charged like these. Absent: none. */
  readonly characters?: number
  /** Of sound that is listened to; held and charged like these. Absent: none. */
  readonly audioSeconds?: number
}

/** What is billed for a call and known from its request: no answer changes it. */
export interface Pieces {
  readonly requests: number
  /** Unicode code points to be spoken. */
  readonly characters: number
  /** Of sound to be listened to, rounded up to hundredths. An answer may tell of more. */
  readonly audioSeconds: number
}

export const ONE_CALL: Pieces = { requests: 1, characters: 0, audioSeconds: 0 }

/** As a record has them, which may be of a release that did not know all. */
export type Kept<Quantities> = { readonly [Name in keyof Quantities]?: Quantities[Name] | undefined }

/** Out of a record that says more. What it does not say is one call, and nothing else. */
export function piecesIn({ requests = 1, characters = 0, audioSeconds = 0 }: Kept<Pieces>): Pieces {
  return { requests, characters, audioSeconds }
}

/** What an answer has produced so far. */
export interface Made {
  /** Disjoint token classes. */
  readonly usage: Usage
  /** Generated images. */
  readonly images: number
}

export const NOTHING_MADE: Made = { usage: NO_USAGE, images: 0 }

/** Out of a record that says more, and may be of a release that did not know all. */
export function madeIn({ usage = NO_USAGE, images = 0 }: Kept<Made>): Made {
  return { usage, images }
}

/** What a call used up, in everything that windows limit and prices bill. */
export interface Used extends Pieces, Made {
  /** Declared seconds of video, not the produced length (docs/reference/contract.md#8-25). */
  readonly videoSeconds: number
}

/** One call that used nothing else. */
export const NOTHING_USED: Used = { ...ONE_CALL, ...NOTHING_MADE, videoSeconds: 0 }

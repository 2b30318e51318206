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
  /** Characters of speech; held and charged in the same way. Absent: none. */
  readonly characters?: number
  /** Seconds of sound to transcribe; held and charged in the same way. Absent: none. */
  readonly audioSeconds?: number
}

/** What is billed for a call and known from its request, whatever the answer. */
export interface Pieces {
  readonly requests: number
  /** Unicode code points to turn into speech. */
  readonly characters: number
  /** Seconds of sound to transcribe, rounded up to hundredths. An answer may report more. */
  readonly audioSeconds: number
}

export const ONE_CALL: Pieces = { requests: 1, characters: 0, audioSeconds: 0 }

/** As stored, perhaps by a release that did not have all of them. */
export type Kept<Quantities> = { readonly [Name in keyof Quantities]?: Quantities[Name] | undefined }

/** Taken from a stored record; what it lacks has the value of one call and nothing else. */
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

/** Taken from a stored record, perhaps of a release that did not have all of them. */
export function madeIn({ usage = NO_USAGE, images = 0 }: Kept<Made>): Made {
  return { usage, images }
}

/** Everything a call used that windows limit or prices bill. */
export interface Used extends Pieces, Made {
  /** Declared seconds of video, not the produced length (docs/reference/contract.md#8-25). */
  readonly videoSeconds: number
}

/** One call that used nothing else. */
export const NOTHING_USED: Used = { ...ONE_CALL, ...NOTHING_MADE, videoSeconds: 0 }

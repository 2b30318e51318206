import type { DimensionRule } from '../dimension-rule.ts'
import type { Dimension } from '../policy.ts'
import { amount } from './amount.ts'
import { audioSeconds } from './audio-seconds.ts'
import { characters } from './characters.ts'
import { images } from './images.ts'
import { requests } from './requests.ts'
import { tokens } from './tokens.ts'
import { videoSeconds } from './video-seconds.ts'
import { videos } from './videos.ts'

/** Every dimension there is. A new one is a file beside this one and a line here (docs/guides/add-a-limit-dimension.md). */
export const DIMENSION_RULES: Readonly<Record<Dimension, DimensionRule>> = {
  requests,
  tokens,
  images,
  videos,
  amount,
  video_seconds: videoSeconds,
  characters,
  audio_seconds: audioSeconds,
}

/** What each model at Runway accepts (from its SDK, release 4.12 of July 2026): it refuses unknown fields. */
export interface RunwayModel {
  /** Pixel ratios for orders by text, and for those with an image; none: no ratio is sent. */
  readonly textRatios: readonly string[]
  readonly imageRatios: readonly string[]
  /** false: an order without a ratio is refused. */
  readonly ratioOptional: boolean
  /** Resolution words for orders with an image, if there is no ratio for them. */
  readonly imageResolution: boolean
  readonly seconds: number
  readonly lastFrame: boolean
  readonly audio: boolean
  readonly negativePrompt: boolean
  readonly seed: boolean
  readonly references: boolean
}

const LANDSCAPE_AND_PORTRAIT = ['1280:720', '720:1280']
const SMALL_AND_LARGE = [...LANDSCAPE_AND_PORTRAIT, '1920:1080', '1080:1920']
const FRAMED = [...LANDSCAPE_AND_PORTRAIT, '1104:832', '832:1104', '960:960', '1584:672']

const GEN: RunwayModel = {
  textRatios: LANDSCAPE_AND_PORTRAIT,
  imageRatios: FRAMED,
  ratioOptional: false,
  imageResolution: false,
  seconds: 5,
  lastFrame: false,
  audio: false,
  negativePrompt: false,
  seed: true,
  references: false,
}

const VEO: RunwayModel = {
  ...GEN,
  textRatios: SMALL_AND_LARGE,
  imageRatios: SMALL_AND_LARGE,
  seconds: 8,
  negativePrompt: true,
  seed: false,
}

const SEEDANCE_SMALL = [
  ...'992:432 864:496 752:560 640:640 560:752 496:864'.split(' '),
  ...'1470:630 1280:720 1112:834 960:960 834:1112 720:1280'.split(' '),
]
const SEEDANCE_ALL = [
  ...SEEDANCE_SMALL,
  ...'2206:946 1920:1080 1664:1248 1440:1440 1248:1664 1080:1920'.split(' '),
  ...'3840:1646 3840:2160 3840:2880 3840:3840 2880:3840 2160:3840'.split(' '),
]

const SEEDANCE: RunwayModel = {
  ...GEN,
  textRatios: SEEDANCE_SMALL,
  imageRatios: SEEDANCE_SMALL,
  ratioOptional: true,
  lastFrame: true,
  audio: true,
  seed: false,
  references: true,
}

const MODELS: Readonly<Record<string, RunwayModel>> = {
  'gen4.5': GEN,
  gen4_turbo: { ...GEN, seconds: 10 },
  veo3: VEO,
  'veo3.1': { ...VEO, audio: true, lastFrame: true },
  'veo3.1_fast': { ...VEO, audio: true, lastFrame: true },
  seedance2: { ...SEEDANCE, textRatios: SEEDANCE_ALL, imageRatios: SEEDANCE_ALL },
  seedance2_fast: SEEDANCE,
  seedance2_mini: SEEDANCE,
  happyhorse_1_0: {
    ...GEN,
    textRatios: [
      ...'1280:720 720:1280 960:960 1108:832 832:1108'.split(' '),
      ...'1920:1080 1080:1920 1440:1440 1662:1248 1248:1662'.split(' '),
    ],
    imageRatios: [],
    ratioOptional: true,
    imageResolution: true,
    seed: false,
  },
  gemini_omni_flash: { ...GEN, imageRatios: LANDSCAPE_AND_PORTRAIT, ratioOptional: true, seed: false },
}

/** A newer model gets the order unchanged and decides itself. */
const UNKNOWN: RunwayModel = {
  ...GEN,
  textRatios: SMALL_AND_LARGE,
  imageRatios: [...FRAMED, '1920:1080', '1080:1920'],
  lastFrame: true,
  audio: true,
  negativePrompt: true,
  references: true,
}

export function runwayModel(model: string): RunwayModel {
  return MODELS[model] ?? UNKNOWN
}

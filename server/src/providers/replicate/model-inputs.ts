/** What is known about the inputs of models on Replicate: each has names of its own (their schemas, read in 2026). */
import type { TierWords } from '../../core/video/size.ts'

export interface ModelInputs {
  readonly seconds: string
  readonly defaultSeconds: number
  readonly first: string
  /** undefined: no last frame. */
  readonly last: string | undefined
  readonly references: string | undefined
  readonly ratio: string
  readonly ratios: readonly string[]
  readonly resolution: string
  readonly tiers: TierWords
  /** Its switch for a rewritten prompt. */
  readonly promptExtend: string | undefined
}

const USUAL: ModelInputs = {
  seconds: 'duration',
  defaultSeconds: 5,
  first: 'image',
  last: 'last_frame_image',
  references: 'reference_images',
  ratio: 'aspect_ratio',
  ratios: ['16:9', '9:16', '1:1'],
  resolution: 'resolution',
  tiers: { '480p': '480p', '720p': '720p', '1080p': '1080p' },
  promptExtend: undefined,
}

const MANY_RATIOS = ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9']

/** The first pattern that fits counts. */
const MODELS: readonly (readonly [RegExp, Partial<ModelInputs>])[] = [
  [
    /^google\/veo/,
    {
      defaultSeconds: 8,
      last: 'last_frame',
      ratios: ['16:9', '9:16'],
      tiers: { '720p': '720p', '1080p': '1080p' },
    },
  ],
  [/^kwaivgi\/kling/, { first: 'start_image', last: 'end_image', tiers: {} }],
  [/^bytedance\/seedance/, { ratios: MANY_RATIOS }],
  [
    /^minimax\/hailuo/,
    {
      defaultSeconds: 6,
      first: 'first_frame_image',
      references: undefined,
      ratios: [],
      tiers: { '480p': '512p', '720p': '768p', '768p': '768p', '1080p': '1080p' },
      promptExtend: 'prompt_optimizer',
    },
  ],
  [
    /^minimax\//,
    {
      defaultSeconds: 6,
      first: 'first_frame_image',
      last: undefined,
      references: 'subject_reference',
      ratios: [],
      tiers: {},
      promptExtend: 'prompt_optimizer',
    },
  ],
  [
    /^luma\//,
    { first: 'start_image', last: 'end_image', references: undefined, ratios: MANY_RATIOS, tiers: {} },
  ],
  [/^wan-video\//, { last: 'last_image', promptExtend: 'enable_prompt_expansion' }],
  [
    /^openai\/sora/,
    {
      seconds: 'seconds',
      defaultSeconds: 4,
      first: 'input_reference',
      last: undefined,
      references: undefined,
      ratios: [],
      tiers: {},
    },
  ],
  [
    /^pixverse\//,
    {
      resolution: 'quality',
      references: undefined,
      tiers: { '540p': '540p', '720p': '720p', '1080p': '1080p' },
    },
  ],
  [/^runwayml\//, { last: undefined, ratios: MANY_RATIOS, tiers: {} }],
  [/^xai\//, { defaultSeconds: 6, last: undefined, tiers: { '480p': '480p', '720p': '720p' } }],
]

export function modelInputs(model: string): ModelInputs {
  return { ...USUAL, ...MODELS.find(([pattern]) => pattern.test(model))?.[1] }
}

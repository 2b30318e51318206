/**
 * What is known about the forms of fal's endpoints (their schemas, read in 2026). An endpoint ignores unknown fields
 * and refuses unknown values, so a wrong guess costs at most a clear error.
 */
import type { VideoRequest } from '../../core/video/request.ts'
import type { TierWords } from '../../core/video/size.ts'

export interface FalForm {
  /** `8`, `"8"` or `"8s"`. */
  readonly seconds: 'number' | 'text' | 'suffixed'
  readonly defaultSeconds: number
  readonly first: string
  /** undefined: no last frame. */
  readonly last: string | undefined
  /** A list, or one address if the name is singular. */
  readonly references: string | undefined
  readonly referenceVideos: string | undefined
  readonly referenceAudios: string | undefined
  readonly ratios: readonly string[]
  readonly tiers: TierWords
  /** Its switch for a rewritten prompt. */
  readonly promptExtend: string | undefined
}

const USUAL: FalForm = {
  seconds: 'text',
  defaultSeconds: 5,
  first: 'image_url',
  last: 'end_image_url',
  references: undefined,
  referenceVideos: undefined,
  referenceAudios: undefined,
  ratios: ['16:9', '9:16', '1:1'],
  tiers: { '480p': '480p', '720p': '720p', '1080p': '1080p' },
  promptExtend: undefined,
}

const MANY_RATIOS = ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9']

/** The first pattern that fits counts. */
const FORMS: readonly (readonly [RegExp, Partial<FalForm>])[] = [
  [
    /\/veo\d/,
    {
      seconds: 'suffixed',
      defaultSeconds: 8,
      last: undefined,
      ratios: ['16:9', '9:16'],
      tiers: { '720p': '720p', '1080p': '1080p', '4k': '4k' },
      promptExtend: 'enhance_prompt',
    },
  ],
  [
    /\/sora/,
    {
      seconds: 'number',
      defaultSeconds: 4,
      last: undefined,
      ratios: ['16:9', '9:16'],
      tiers: { '720p': '720p', '1080p': '1080p' },
    },
  ],
  [
    /\/luma|\/ray-?\d/,
    { seconds: 'suffixed', ratios: MANY_RATIOS, tiers: { '540p': '540p', '720p': '720p', '1080p': '1080p' } },
  ],
  [/\/kling-video\/(v[3-9]|o\d)/, { first: 'start_image_url', tiers: {} }],
  [/\/kling-video\//, { last: 'tail_image_url', tiers: {} }],
  [/\/seedance/, { ratios: MANY_RATIOS }],
  [
    /\/minimax|\/hailuo/,
    {
      defaultSeconds: 6,
      tiers: { '480p': '512P', '720p': '768P', '768p': '768P', '1080p': '1080P' },
      promptExtend: 'prompt_optimizer',
    },
  ],
  [
    /\/grok-imagine/,
    {
      seconds: 'number',
      defaultSeconds: 6,
      last: undefined,
      ratios: [...MANY_RATIOS, '3:2', '2:3'],
      tiers: { '480p': '480p', '720p': '720p' },
    },
  ],
  [
    /\/ltx/,
    { seconds: 'number', defaultSeconds: 6, tiers: { '1080p': '1080p', '2k': '1440p', '4k': '2160p' } },
  ],
  [
    /\/vidu|\/happy-?horse/,
    { seconds: 'number', tiers: { '540p': '540p', '720p': '720p', '1080p': '1080p' } },
  ],
  [/\/wan.*flf2v/, { first: 'start_image_url', promptExtend: 'enable_prompt_expansion' }],
  [/(^|\/)wan\/v2\.7/, { seconds: 'number', ratios: MANY_RATIOS, promptExtend: 'enable_prompt_expansion' }],
  [/(^|\/)wan/, { promptExtend: 'enable_prompt_expansion' }],
  [/\/pixverse.*transition/, { first: 'first_image_url', ratios: MANY_RATIOS }],
  [/\/pixverse/, { ratios: MANY_RATIOS, tiers: { '540p': '540p', '720p': '720p', '1080p': '1080p' } }],
]

/** Endpoints named by their kind of order, with the forms of their families. */
const KINDS: readonly (readonly [RegExp, Partial<FalForm>])[] = [
  [/\/first-last-frame-to-video/, { first: 'first_frame_url', last: 'last_frame_url' }],
  [/\/start-end-to-video/, { first: 'start_image_url', last: 'end_image_url' }],
  [
    /seedance-2.*\/reference-to-video/,
    { references: 'image_urls', referenceVideos: 'video_urls', referenceAudios: 'audio_urls' },
  ],
  [/\/(vidu|grok-imagine|seedance\/v1).*\/reference-to-video/, { references: 'reference_image_urls' }],
  [/\/reference-to-video/, { references: 'image_urls' }],
  [/\/elements/, { references: 'input_image_urls' }],
  [/\/subject-reference|-subject-reference/, { references: 'subject_reference_image_url' }],
  [/\/text-to-video/, { last: undefined }],
]

export function formOf(endpoint: string): FalForm {
  const path = `/${endpoint}`
  const family = FORMS.find(([pattern]) => pattern.test(path))?.[1]
  const kind = KINDS.find(([pattern]) => pattern.test(path))?.[1]
  return { ...USUAL, ...family, ...kind }
}

/** Families with a separate endpoint for references. */
const WITH_REFERENCES = /seedance-2|grok-imagine|happy-?horse|\/vidu/

/** A chain names one endpoint; the order's images choose among related endpoints. */
export function endpointFor(endpoint: string, request: VideoRequest): string {
  const veo = /^(fal-ai\/veo3(?:\.1)?(?:\/(?:fast|lite))?)(?:\/[a-z-]+-to-video)?$/.exec(endpoint)?.[1]
  if (veo !== undefined) return veo + veoKind(veo, request)
  if (request.firstFrame !== undefined) return endpoint.replace('/text-to-video', '/image-to-video')
  if (request.referenceImages.length > 0 && WITH_REFERENCES.test(endpoint)) {
    return endpoint.replace('/text-to-video', '/reference-to-video')
  }
  return endpoint
}

function veoKind(veo: string, { firstFrame, lastFrame, referenceImages }: VideoRequest): string {
  const newer = veo.includes('veo3.1')
  if (firstFrame !== undefined) {
    return newer && lastFrame !== undefined ? '/first-last-frame-to-video' : '/image-to-video'
  }
  return newer && referenceImages.length > 0 ? '/reference-to-video' : ''
}

/** Owner and app: the rest of the path is used for the order only, not for later requests. */
export function appOf(endpoint: string): string {
  return endpoint.split('/').slice(0, 2).join('/')
}

/** Images by MiniMax (`/v1/image_generation`), as links or in base64. */
import { isJsonObject } from '../../core/json.ts'
import { GENERATIONS } from '../dialects/images-dialect.ts'
import { passedDialect } from '../dialects/passed.ts'
import { countOf, isSize, picturesIn, picturesInBase64, shapeOf } from '../dialects/pictures.ts'
import { renamed } from '../dialects/rename.ts'
import type { FormRewrite, PassedDialect } from '../provider.ts'
import { classifyRewritten, errorIn } from './failures.ts'

const RATIOS = ['1:1', '16:9', '4:3', '3:2', '2:3', '3:4', '9:16', '21:9']

/** The vendor's own members that clients may also send. */
const NAMES = {
  model: 'model',
  prompt: 'prompt',
  aspect_ratio: 'aspect_ratio',
  width: 'width',
  height: 'height',
  seed: 'seed',
  prompt_optimizer: 'prompt_optimizer',
  subject_reference: 'subject_reference',
  style: 'style',
  aigc_watermark: 'aigc_watermark',
}

const rewrite: FormRewrite = {
  request: ({ n, size, response_format: format, ...rest }) => {
    const { members, dropped } = renamed(rest, NAMES)
    const count = countOf(n)
    const ratio = shapeOf(size, RATIOS)
    return {
      body: {
        ...(ratio === undefined ? {} : { aspect_ratio: ratio }),
        ...members,
        ...(count === undefined ? {} : { n: count }),
        response_format: format === 'b64_json' ? 'base64' : 'url',
      },
      dropped: isSize(size) && ratio === undefined ? ['size', ...dropped] : dropped,
      context: {},
    }
  },
  answer: (body) => {
    const error = errorIn(body)
    if (error !== undefined) return { error }
    const { data } = body
    if (!isJsonObject(data)) return undefined
    const pictures = [...picturesIn(data['image_urls']), ...picturesInBase64(data['image_base64'])]
    return pictures.length === 0 ? undefined : { data: pictures }
  },
}

export const minimaxImages: PassedDialect = passedDialect({
  protocol: 'images',
  path: '/image_generation',
  paths: [GENERATIONS],
  classify: classifyRewritten,
  rewrite,
})

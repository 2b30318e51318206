/** Images by SiliconFlow, at OpenAI's path with other names in request and answer (docs/protocols.md#images). */
import { GENERATIONS } from '../dialects/images-dialect.ts'
import { passedDialect } from '../dialects/passed.ts'
import { countOf, isSize, picturesAsked, picturesIn } from '../dialects/pictures.ts'
import { renamed } from '../dialects/rename.ts'
import type { FormRewrite, PassedDialect } from '../provider.ts'
import { WORDS } from './words.ts'

/** The vendor's own members that clients may also send. */
const NAMES = {
  prompt: 'prompt',
  negative_prompt: 'negative_prompt',
  image_size: 'image_size',
  seed: 'seed',
  num_inference_steps: 'num_inference_steps',
  guidance_scale: 'guidance_scale',
  cfg: 'cfg',
  prompt_enhancement: 'prompt_enhancement',
  output_format: 'output_format',
  image: 'image',
  image2: 'image2',
  image3: 'image3',
}

/** Only these make several. */
const OF_SEVERAL = /kolors/i

const rewrite: FormRewrite = {
  linkedPictures: true,
  request: ({ model = null, n, size, response_format: format, ...rest }) => {
    const { members, dropped } = renamed(rest, NAMES)
    const count = countOf(n)
    const makesSeveral = typeof model === 'string' && OF_SEVERAL.test(model)
    return {
      body: {
        model,
        ...members,
        ...(isSize(size) ? { image_size: size } : {}),
        ...(count === undefined || !makesSeveral ? {} : { batch_size: count }),
      },
      dropped: count === undefined || count === 1 || makesSeveral ? dropped : ['n', ...dropped],
      context: picturesAsked({ response_format: format }),
    }
  },
  answer: ({ images }) => {
    const data = picturesIn(images)
    return data.length === 0 ? undefined : { data }
  },
}

export const siliconflowImages: PassedDialect = {
  ...passedDialect({
    protocol: 'images',
    path: '/images/generations',
    paths: [GENERATIONS],
    words: WORDS,
    rewrite,
  }),
  makesOne: (model) => !OF_SEVERAL.test(model),
}

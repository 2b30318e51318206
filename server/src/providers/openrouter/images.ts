/** Pictures by OpenRouter: one address for new and changed ones, which takes pictures to start from by address (docs/protocols.md#images). */
import { addressOfPicture, givenPictures, refusedPictures } from '../dialects/given-pictures.ts'
import { EDITS, GENERATIONS } from '../dialects/images-dialect.ts'
import { passedDialect } from '../dialects/passed.ts'
import { countOf, isSize } from '../dialects/pictures.ts'
import { renamed } from '../dialects/rename.ts'
import type { FormRewrite, PassedDialect } from '../provider.ts'
import { classify } from './failures.ts'

const NAMES = {
  prompt: 'prompt',
  aspect_ratio: 'aspect_ratio',
  background: 'background',
  input_references: 'input_references',
  output_compression: 'output_compression',
  output_format: 'output_format',
  provider: 'provider',
  quality: 'quality',
  resolution: 'resolution',
  seed: 'seed',
}

const rewrite: FormRewrite = {
  refuses: (body, told, calledPath) =>
    refusedPictures(body, told, { most: Infinity, calledPath, own: ['input_references'] }),
  request: (asked, sent) => {
    const { pictures, rest } = givenPictures(asked, sent)
    const { model = null, n, size, response_format: format, mask: _none, ...others } = rest
    const { members, dropped } = renamed(others, NAMES)
    const count = countOf(n)
    const references = pictures.map((picture) => ({
      type: 'image_url',
      image_url: { url: addressOfPicture(picture) },
    }))
    return {
      body: {
        model,
        ...members,
        ...(references.length === 0 ? {} : { input_references: references }),
        ...(count === undefined ? {} : { n: count }),
        ...(isSize(size) ? { size } : {}),
      },
      // It answers with bytes alone.
      dropped: format === 'url' ? ['response_format', ...dropped] : dropped,
      context: {},
    }
  },
  answer: (body) => (Array.isArray(body['data']) ? body : undefined),
}

export const openrouterImages: PassedDialect = passedDialect({
  protocol: 'images',
  path: '/images',
  paths: [GENERATIONS, EDITS],
  classify,
  rewrite,
})

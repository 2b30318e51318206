/**
 * Images by Grok. Generation uses OpenAI's form; so do edits, except that images are named by address in a document and
 * never sent as a form (docs/protocols.md#images).
 */
import { addressOfPicture, givenPictures, unknownPicture } from '../dialects/given-pictures.ts'
import { EDITS, GENERATIONS } from '../dialects/images-dialect.ts'
import { passedDialect } from '../dialects/passed.ts'
import { countOf, isSize, ownMembers, shapeOf } from '../dialects/pictures.ts'
import type { FormRewrite, PassedDialect } from '../provider.ts'

const RATIOS = ['1:1', '3:4', '4:3', '9:16', '16:9', '2:3', '3:2', '1:2', '2:1']

const rewrite: FormRewrite = {
  refuses: unknownPicture,
  request: (asked, sent) => {
    const { pictures, mask, rest } = givenPictures(asked, sent)
    const { model = null, prompt = null, n, size, response_format: format, quality, ...own } = rest
    const { members, dropped } = ownMembers(own, { openai: false })
    const count = countOf(n)
    const ratio = shapeOf(size, RATIOS)
    const places = pictures.map((picture) => ({ type: 'image_url', url: addressOfPicture(picture) }))
    const [first] = places
    return {
      body: {
        model,
        prompt,
        ...(places.length > 1 ? { images: places } : first === undefined ? {} : { image: first }),
        ...(mask === undefined ? {} : { mask: { type: 'image_url', url: addressOfPicture(mask) } }),
        ...(count === undefined ? {} : { n: count }),
        ...(ratio === undefined ? {} : { aspect_ratio: ratio }),
        ...(quality === undefined ? {} : { quality }),
        ...(format === undefined ? {} : { response_format: format }),
        ...members,
      },
      dropped: isSize(size) && ratio === undefined ? ['size', ...dropped] : dropped,
      context: {},
    }
  },
  answer: (body) => (Array.isArray(body['data']) ? body : undefined),
}

export const xaiImages: PassedDialect = {
  ...passedDialect({
    protocol: 'images',
    path: (called = GENERATIONS) => called.replace(/^\/v1/, ''),
    paths: [GENERATIONS, EDITS],
    rewrite,
  }),
  rewrittenPaths: [EDITS],
}

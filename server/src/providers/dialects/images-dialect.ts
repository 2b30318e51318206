import type { PassedDialect } from '../provider.ts'
import { type PassedDialectDescription, passedDialect } from './passed.ts'

export const GENERATIONS = '/v1/images/generations'
export const EDITS = '/v1/images/edits'

/** Dialect of a vendor that only makes images from text. */
export function imagesDialect(
  description: Omit<PassedDialectDescription, 'protocol' | 'path' | 'paths'>,
): PassedDialect {
  return passedDialect({
    ...description,
    protocol: 'images',
    path: '/images/generations',
    paths: [GENERATIONS],
  })
}

/** Dialect of a vendor that has all of OpenAI's paths: generations, edits and variations. */
export function allImagesDialect(
  description: Omit<PassedDialectDescription, 'protocol' | 'path' | 'paths'>,
): PassedDialect {
  return passedDialect({
    ...description,
    protocol: 'images',
    path: (called = GENERATIONS) => called.replace(/^\/v1/, ''),
  })
}

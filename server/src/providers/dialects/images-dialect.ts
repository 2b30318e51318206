import type { PassedDialect } from '../provider.ts'
import { type PassedDialectDescription, passedDialect } from './passed.ts'

export const GENERATIONS = '/v1/images/generations'

/** Of a vendor that makes images out of words, and does not change any. */
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

/** Of one that has all that OpenAI has: images out of words, changed ones, and others like one. */
export function allImagesDialect(
  description: Omit<PassedDialectDescription, 'protocol' | 'path' | 'paths'>,
): PassedDialect {
  return passedDialect({
    ...description,
    protocol: 'images',
    path: (called = GENERATIONS) => called.replace(/^\/v1/, ''),
  })
}

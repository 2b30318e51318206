import { describe, expect, test } from 'vitest'
import type { VideoRequest } from '../../core/video/request.ts'
import { pixelsOf, type Shape, shapePlaces } from './shape.ts'
import { order } from './testing/order.ts'

const SHAPE: Shape = {
  names: { ratio: 'ratio', resolution: 'resolution' },
  ratios: ['16:9', '9:16'],
  tiers: { '720p': '720P', '1080p': '1080P' },
  letterCase: 'upper',
}
const PIXELS = ['1280:720', '720:1280', '1920:1080', '960:960']

describe('ratio and resolution', () => {
  test.each<[string, Partial<VideoRequest>, object]>([
    ['nothing asked', {}, {}],
    [
      'a size gives both',
      { size: { width: 1920, height: 1080 } },
      { size: { ratio: '16:9', resolution: '1080P' } },
    ],
    [
      'a size of another ratio gives the resolution',
      { size: { width: 1000, height: 1000 } },
      { size: { resolution: '720P' } },
    ],
    [
      'explicit ones are the client’s, in the vendor’s letters',
      { ratio: '4:5', resolution: '480p' },
      { ratio: { ratio: '4:5' }, resolution: { resolution: '480P' } },
    ],
  ])('%s', (_, request, places) => {
    expect(JSON.parse(JSON.stringify(shapePlaces(order(request), SHAPE)))).toMatchObject(places)
  })

  test('a size that says nothing to the vendor has no place', () => {
    const nothing: Shape = { ...SHAPE, ratios: [], tiers: {} }
    expect(shapePlaces(order({ size: { width: 1280, height: 720 } }), nothing).size).toBeUndefined()
  })
})

describe('pixels', () => {
  test.each<[string, Partial<VideoRequest>, string | undefined]>([
    ['nothing asked', {}, undefined],
    ['a size', { size: { width: 1280, height: 720 } }, '1280:720'],
    ['the nearest of its ratio', { size: { width: 854, height: 480 } }, '1280:720'],
    ['none of its ratio', { size: { width: 1470, height: 630 } }, undefined],
    ['a ratio', { ratio: '9:16' }, '720:1280'],
    ['a ratio at the step of the size', { ratio: '16:9', size: { width: 1080, height: 1080 } }, '1280:720'],
    ['a resolution', { resolution: '1080p' }, '1920:1080'],
    [
      'a resolution at the ratio of the size',
      { resolution: '1080p', size: { width: 512, height: 512 } },
      '960:960',
    ],
    ['a resolution in pixels', { resolution: '720x1280' }, '720:1280'],
    ['an entry named as a ratio', { ratio: '1920:1080' }, '1920:1080'],
    ['an entry named as a resolution', { resolution: '1920*1080' }, '1920:1080'],
    ['a ratio the list lacks', { ratio: '21:9' }, undefined],
  ])('%s', (_, request, pixels) => {
    expect(pixelsOf(order(request), PIXELS)).toBe(pixels)
  })
})

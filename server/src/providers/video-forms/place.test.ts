import { describe, expect, test } from 'vitest'
import type { VideoRequest } from '../../core/video/request.ts'
import { placeFields } from './place.ts'
import { order } from './testing/order.ts'

const PLAIN = order()

describe('placing the fields of an order', () => {
  test('nothing asked, nothing placed, nothing dropped', () => {
    expect(placeFields(PLAIN, { members: { seed: { seed: undefined } } })).toEqual({
      members: {},
      dropped: [],
    })
  })

  test('what has no place is dropped under the name the client gave it [4.4-36]', () => {
    const request: VideoRequest = {
      ...PLAIN,
      lastFrame: { kind: 'url', url: 'https://cdn.example/last.png' },
      referenceVideos: ['https://cdn.example/a.mp4'],
      generateAudio: false,
      seed: 7,
    }
    expect(placeFields(request, { members: { seed: { seed: 7 } } })).toEqual({
      members: { seed: 7 },
      dropped: ['image_tail', 'reference_videos', 'generate_audio'],
    })
  })

  test('what is derived from a size gives way to what was said outright', () => {
    const request: VideoRequest = {
      ...PLAIN,
      size: { width: 1280, height: 720 },
      resolution: '1080p',
      extras: { aspect: '2:1' },
    }
    const placed = placeFields(request, {
      members: {
        size: { resolution: '720p', aspect: '16:9', fps: 24 },
        resolution: { resolution: '1080p' },
        ratio: { aspect: undefined },
      },
    })
    expect(placed).toEqual({ members: { resolution: '1080p', aspect: '2:1', fps: 24 }, dropped: [] })
  })

  test('other fields are passed on unchanged, whatever their kind [4.4-32]', () => {
    const extras = { camera: { pan: [1, 2] }, fast: true, note: null, priority: 0 }
    expect(placeFields({ ...PLAIN, extras }, { members: {} })).toEqual({ members: extras, dropped: [] })
  })

  test.each(['duration', 'n', 'model', 'callback_url', 'webhook', 'off_peak', 'frames'])(
    '%s is not for a client to pass on',
    (name) => {
      const placed = placeFields(
        { ...PLAIN, extras: { [name]: 1, kept: 2 } },
        { members: {}, reserved: ['frames'] },
      )
      expect(placed).toEqual({ members: { kept: 2 }, dropped: [name] })
    },
  )

  test.each([
    ['flex', {}, ['service_tier']],
    ['Flex', {}, ['service_tier']],
    ['default', { service_tier: 'default' }, []],
  ])('a service tier of %s: hours in a queue fit no call', (tier, members, dropped) => {
    expect(placeFields({ ...PLAIN, extras: { service_tier: tier } }, { members: {} })).toEqual({
      members,
      dropped,
    })
  })
})

import { describe, expect, test } from 'vitest'
import { modelId } from '../../core/ids.ts'
import {
  encodeChatListing,
  encodeMessagesListing,
  findModelForKey,
  listModelsForKey,
} from './model-listing.ts'
import {
  sampleCatalogue,
  sampleChain,
  sampleModel,
  sampleVendor,
} from '../../../test/management/sample-catalogue.ts'

const catalogue = sampleCatalogue({
  vendors: [sampleVendor('alpha'), sampleVendor('off', { status: 'disabled' })],
  models: [
    sampleModel('one', [sampleChain(1, 'one', 'alpha')], { contextTokens: 400_000, maxOutputTokens: 8192 }),
    sampleModel('two', [
      sampleChain(2, 'two', 'alpha'),
      sampleChain(3, 'two', 'alpha', { protocol: 'messages' }),
    ]),
    sampleModel('hidden', [sampleChain(4, 'hidden', 'alpha')], { clientVisible: false }),
    sampleModel('resting', [sampleChain(5, 'resting', 'alpha')], { status: 'maintenance' }),
    sampleModel('unreachable', [sampleChain(6, 'unreachable', 'off')]),
  ],
  groups: new Map([
    ['pair', { name: 'pair', protocol: 'messages', models: [modelId('two'), modelId('hidden')] }],
  ]),
})
const key = (models: readonly string[], group?: string) => ({ models: models.map(modelId), group })

describe('what a key may list', () => {
  test.each([
    ['an unbound key without an allow list: every visible, usable model', key([]), ['one', 'two']],
    ['an allow list narrows it', key(['two', 'resting']), ['two']],
    ['a hidden model when the allow list names it', key(['hidden']), ['hidden']],
    ['a group narrows it, and does not uncover hidden models', key([], 'pair'), ['two']],
    ['group and allow list hold together', key(['one', 'hidden'], 'pair'), ['hidden']],
    ['a group that is gone leaves nothing', key([], 'gone'), []],
  ])('%s', (_sentence, restrictions, expected) => {
    const listed = listModelsForKey(catalogue, { models: restrictions.models, group: restrictions.group })
    expect(listed.map((model) => model.modelId)).toEqual(expected)
  })

  test('a single model is found by the same rule', () => {
    expect(findModelForKey(catalogue, { models: [], group: undefined }, 'one')?.modelId).toBe('one')
    expect(findModelForKey(catalogue, { models: [], group: undefined }, 'hidden')).toBeUndefined()
  })
})

describe('the shapes', () => {
  const models = listModelsForKey(catalogue, { models: [], group: undefined })

  test('chat: a list of objects of type model that names no upstream', () => {
    expect(encodeChatListing(models)).toEqual({
      object: 'list',
      data: [
        { id: 'one', object: 'model', created: 1_700_000_000, owned_by: 'sluice' },
        { id: 'two', object: 'model', created: 1_700_000_000, owned_by: 'sluice' },
      ],
    })
  })

  test('messages: items of type model with a display name and their limits', () => {
    const listing = encodeMessagesListing(models, {
      limit: undefined,
      afterId: undefined,
      beforeId: undefined,
    })
    expect(listing).toMatchObject({ has_more: false, first_id: 'one', last_id: 'two' })
    expect(listing.data[0]).toMatchObject({
      type: 'model',
      id: 'one',
      display_name: 'Model one',
      max_input_tokens: 400_000,
      max_tokens: 8192,
    })
    expect(listing.data[1]).toMatchObject({ max_input_tokens: null, max_tokens: null })
  })

  test.each([
    ['a first page says there is more', { limit: 1 }, ['one'], true],
    ['after_id goes on', { limit: 1, afterId: 'one' }, ['two'], false],
    ['before_id goes back', { limit: 5, beforeId: 'two' }, ['one'], false],
    ['an unknown id begins nowhere', { afterId: 'nobody' }, [], false],
    ['a limit out of range is brought into it', { limit: 0 }, ['one'], true],
  ])('messages paging: %s', (_sentence, page, expected, hasMore) => {
    const listing = encodeMessagesListing(models, {
      limit: undefined,
      afterId: undefined,
      beforeId: undefined,
      ...page,
    })
    expect(listing.data.map((item) => item.id)).toEqual(expected)
    expect(listing.has_more).toBe(hasMore)
  })
})

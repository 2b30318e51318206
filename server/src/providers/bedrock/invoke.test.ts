/** Models of Amazon, Cohere and Stability through InvokeModel: each in its own form, with the model in the path. */
import { describe, expect, test } from 'vitest'
import { forwardModelId } from '../../core/ids.ts'
import type { JsonObject } from '../../core/json.ts'
import { bedrockEmbeddings } from './embeddings.ts'
import { bedrockImages } from './images.ts'
import { bedrockRerank } from './rerank.ts'

const TITAN = 'amazon.titan-embed-text-v2:0'
const TITAN_FIRST = 'amazon.titan-embed-text-v1'
const EMBED = 'cohere.embed-v4:0'
const NONE = { files: [], soundSeconds: 0 }

describe('vectors', () => {
  const { rewrite } = bedrockEmbeddings

  test.each<[string, string, JsonObject, JsonObject, readonly string[]]>([
    ['of a text', TITAN, { input: 'a' }, { inputText: 'a' }, []],
    ['of a list of one', TITAN, { input: ['a'] }, { inputText: 'a' }, []],
    [
      'with dimensions',
      TITAN,
      { input: 'a', dimensions: 256, normalize: false, user: 'u', input_type: 'search_query' },
      { inputText: 'a', dimensions: 256, normalize: false },
      ['user', 'input_type'],
    ],
    [
      'by the first version, which has none',
      TITAN_FIRST,
      { input: 'a', dimensions: 256 },
      { inputText: 'a' },
      ['dimensions'],
    ],
    [
      'by Cohere, of several',
      EMBED,
      { input: ['a', 'b'], dimensions: 256, truncate: 'END', user: 'u' },
      {
        input_type: 'search_document',
        output_dimension: 256,
        truncate: 'END',
        texts: ['a', 'b'],
        embedding_types: ['float'],
      },
      ['user'],
    ],
    [
      'by Cohere at the ARN of its model',
      'arn:aws:bedrock:us-east-1::foundation-model/cohere.embed-english-v3',
      { input: 'a', input_type: 'search_query' },
      { input_type: 'search_query', texts: ['a'], embedding_types: ['float'] },
      [],
    ],
  ])('%s', (_what, model, asked, body, dropped) => {
    const sent = rewrite?.request({ model, encoding_format: 'float', ...asked })
    expect(sent).toEqual({ body, dropped, context: { model, base64: false } })
  })

  test.each<[string, string, JsonObject, boolean]>([
    ['two texts', TITAN, { input: ['a', 'b'] }, true],
    ['no text', TITAN, { input: [] }, true],
    ['tokens', TITAN, { input: [5, 6] }, true],
    ['one text in a list', TITAN, { input: ['a'] }, false],
    ['one text', TITAN_FIRST, { input: 'a' }, false],
    ['two texts of Cohere', EMBED, { input: ['a', 'b'] }, false],
  ])('%s can be asked for', (_what, model, asked, isRefused) => {
    expect(rewrite?.refuses?.({ model, ...asked }, NONE) !== undefined).toBe(isRefused)
  })

  test.each<[string, string, JsonObject, JsonObject | undefined]>([
    [
      'a vector and its tokens',
      TITAN,
      { embedding: [0.5, -1], inputTextTokenCount: 3, embeddingsByType: { float: [0.5, -1] } },
      { data: [{ embedding: [0.5, -1], index: 0 }], usage: { prompt_tokens: 3, total_tokens: 3 } },
    ],
    [
      'tokens that are no number',
      TITAN,
      { embedding: [1], inputTextTokenCount: '3' },
      { data: [{ embedding: [1] }] },
    ],
    ['no vector', TITAN, { embedding: null }, undefined],
    ['a vector of another form', TITAN, { embeddings: { float: [[1]] } }, undefined],
    [
      'vectors without tokens',
      EMBED,
      { embeddings: { float: [[1], [2]] } },
      { data: [{ index: 0 }, { index: 1 }] },
    ],
    ['other numbers alone', EMBED, { embeddings: { int8: [[1]] } }, undefined],
  ])('an answer with %s', (_what, model, answered, told) => {
    const answer = rewrite?.answer(answered, { model, base64: false })
    if (told === undefined) expect(answer).toBeUndefined()
    else expect(answer).toMatchObject(told)
  })

  test('are encoded for whom asks for base64', () => {
    const answer = rewrite?.answer({ embedding: [1] }, { model: TITAN, base64: true })
    expect(answer).toMatchObject({ data: [{ embedding: 'AACAPw==' }] })
  })
})

describe('ranks', () => {
  test.each<[string, JsonObject, readonly string[]]>([
    [
      'cohere.rerank-v3-5:0',
      { query: 'q', documents: ['a', 'b'], top_n: 1, max_tokens_per_doc: 9, api_version: 2 },
      ['return_documents'],
    ],
    [
      'amazon.rerank-v1:0',
      { query: 'q', documents: ['a', 'b'], top_n: 1 },
      ['max_tokens_per_doc', 'return_documents'],
    ],
  ])('by %s', (model, body, dropped) => {
    const asked = {
      model,
      query: 'q',
      documents: ['a', { text: 'b' }],
      top_n: 1,
      max_tokens_per_doc: 9,
      return_documents: true,
    }
    expect(bedrockRerank.rewrite?.request(asked)).toEqual({ body, dropped, context: {} })
  })
})

describe('pictures', () => {
  const { rewrite, makesOne, paths } = bedrockImages
  const NOVA = 'amazon.nova-canvas-v1:0'
  const CORE = 'stability.stable-image-core-v1:1'

  test.each<[string, string, JsonObject, JsonObject, readonly string[]]>([
    [
      'of Amazon',
      NOVA,
      { n: '2', size: '1024x768', quality: 'high', seed: 7, negative_prompt: 'blue', user: 'u' },
      {
        taskType: 'TEXT_IMAGE',
        textToImageParams: { text: 'red', negativeText: 'blue' },
        imageGenerationConfig: { numberOfImages: 2, width: 1024, height: 768, quality: 'premium', seed: 7 },
      },
      ['user'],
    ],
    [
      'of Amazon, of whatever size and quality',
      NOVA,
      { size: 'auto', quality: 'auto' },
      { taskType: 'TEXT_IMAGE', textToImageParams: { text: 'red' }, imageGenerationConfig: {} },
      [],
    ],
    [
      'of Amazon, of a size and a quality that it has no word for',
      NOVA,
      { size: 'large', quality: 'low', numberOfImages: 9 },
      { taskType: 'TEXT_IMAGE', textToImageParams: { text: 'red' }, imageGenerationConfig: {} },
      ['size', 'quality', 'numberOfImages'],
    ],
    [
      'of Stability, which makes one',
      CORE,
      { n: 2, size: '1536x1024', output_format: 'jpeg', negative_prompt: 'blue', quality: 'high' },
      { prompt: 'red', aspect_ratio: '3:2', output_format: 'jpeg', negative_prompt: 'blue' },
      ['n', 'quality'],
    ],
    ['of Stability, of one', CORE, { n: 1, size: '100x1000' }, { prompt: 'red' }, ['size']],
  ])('%s', (_what, model, asked, body, dropped) => {
    const sent = rewrite?.request({ model, prompt: 'red', response_format: 'b64_json', ...asked })
    expect(sent).toEqual({ body, dropped, context: { model } })
  })

  const filtered = (message: string) => ({
    error: { message, type: 'invalid_request_error', code: 'content_filter' },
  })
  test.each<[string, string, JsonObject, JsonObject | undefined]>([
    ['two pictures', NOVA, { images: ['AA', 'BB'] }, { data: [{ b64_json: 'AA' }, { b64_json: 'BB' }] }],
    [
      'one of two, the other withheld',
      NOVA,
      { images: ['AA'], error: 'blocked' },
      { data: [{ b64_json: 'AA' }] },
    ],
    ['none, all withheld', NOVA, { images: [], error: 'blocked' }, filtered('blocked')],
    ['none, all withheld, without a list', NOVA, { error: 'blocked' }, filtered('blocked')],
    ['nothing', NOVA, { images: [], error: null }, undefined],
    ['pictures that are none', NOVA, { images: [null, '', 7] }, undefined],
    [
      'a picture',
      CORE,
      { seeds: [7], finish_reasons: [null], images: ['AA'] },
      { data: [{ b64_json: 'AA' }] },
    ],
    [
      'a picture and one that was filtered',
      CORE,
      { finish_reasons: ['Filter reason: output image', null], images: ['AA', 'BB'] },
      { data: [{ b64_json: 'BB' }] },
    ],
    [
      'a filtered prompt',
      CORE,
      { finish_reasons: ['Filter reason: prompt'] },
      filtered('Filter reason: prompt'),
    ],
    [
      'a failure',
      CORE,
      { finish_reasons: ['Inference error'], images: [] },
      { error: { message: 'Inference error', type: 'api_error', code: null } },
    ],
    ['nothing of Stability', CORE, { seeds: [7] }, undefined],
  ])('an answer with %s', (_what, model, answered, told) => {
    expect(rewrite?.answer(answered, { model })).toEqual(told)
  })

  test.each([
    [NOVA, false],
    [CORE, true],
  ])('%s makes one a call: %s', (model, one) => {
    expect(makesOne?.(forwardModelId(model))).toBe(one)
  })

  test('are made of words, and not changed', () => {
    expect(paths).toEqual(['/v1/images/generations'])
  })
})

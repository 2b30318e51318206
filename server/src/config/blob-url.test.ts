import { describe, expect, test } from 'vitest'
import { Secret } from '../core/secret.ts'
import { readBlobUrl } from './blob-url.ts'

const read = (text: string) => readBlobUrl(new URL(text))

const AMAZON = {
  bucket: 'videos',
  prefix: '',
  endpoint: undefined,
  region: undefined,
  pathStyle: false,
  credentials: undefined,
}

describe('an address of an S3 store', () => {
  test.each([
    ['a bucket alone is one of Amazon’s, with the usual AWS variables', 's3://videos', AMAZON],
    ['slashes around the prefix mean nothing', 's3://videos/a/b/', { ...AMAZON, prefix: 'a/b' }],
    [
      'endpoint, region and path style',
      's3://videos?endpoint=http://127.0.0.1:9000&region=eu-central-1&path_style=true',
      { ...AMAZON, endpoint: 'http://127.0.0.1:9000', region: 'eu-central-1', pathStyle: true },
    ],
    ['what is empty counts as not said', 's3://videos?endpoint=&region=&path_style=', AMAZON],
  ])('%s', (_sentence, text, expected) => {
    expect(read(text)).toEqual(expected)
  })

  test('a secret key may hold + and / as Amazon makes them, and does not print', () => {
    const address = read('s3://videos?access_key_id=AKIA1&secret_access_key=a+b/c%2Bd&session_token=t')
    if (!('credentials' in address) || address.credentials === undefined) throw new Error('no credentials')
    expect(address.credentials.accessKeyId).toBe('AKIA1')
    expect(address.credentials.secretAccessKey).toBeInstanceOf(Secret)
    expect(address.credentials.secretAccessKey.unwrap()).toBe('a+b/c+d')
    expect(address.credentials.sessionToken?.unwrap()).toBe('t')
    expect(JSON.stringify(address)).not.toContain('a+b')
  })

  test.each([
    ['s3://?region=x', ['the bucket after s3:// is missing or not a bucket name']],
    ['s3://a_b c', ['the bucket after s3:// is missing or not a bucket name']],
    ['s3://videos/../x y', ['the path may hold letters, digits, ".", "_" and "-" only']],
    ['s3://videos:9000', ['a port belongs to the endpoint']],
    [
      's3://key:secret@videos',
      ['credentials are given as access_key_id and secret_access_key, not before the bucket'],
    ],
    ['s3://videos?endpoint=127.0.0.1:9000', ['endpoint is not an http or https address']],
    ['s3://videos?region=eu central', ['region is not a region name']],
    ['s3://videos?path_style=yes', ['path_style is neither true nor false']],
    ['s3://videos?endpont=http://x', ['its query holds an unknown name; did you mean endpoint?']],
    ['s3://videos?access_key_id=a', ['access_key_id and secret_access_key are given together or not at all']],
  ])('%s is refused', (text, mistakes) => {
    const canBeUrl = URL.canParse(text)
    expect(canBeUrl ? read(text) : mistakes).toEqual(mistakes)
  })

  test('all errors are reported together, and none contains the address', () => {
    const mistakes = read(
      's3://videos?endpoint=nowhere-s3cr3t&path_style=s3cr3t&secret_access_key=s3cr3t&s3cr3t=1',
    )
    expect(mistakes).toHaveLength(4)
    expect(JSON.stringify(mistakes)).not.toContain('s3cr3t')
  })
})

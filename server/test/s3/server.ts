/** A real S3 server on loopback, with one bucket, for tests. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import S3rver from 's3rver'

export interface S3Server {
  readonly endpoint: string
  readonly bucket: string
  /** The one pair of keys it knows. */
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** As `SLUICE_BLOB_URL` says it. */
  readonly url: string
  close(): Promise<void>
}

const BUCKET = 'sluice-test'
const KEY = 'S3RVER'

export async function openS3Server(): Promise<S3Server> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-s3-'))
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: BUCKET }],
  })
  const { port } = await server.run()
  const endpoint = `http://127.0.0.1:${port}`
  return {
    endpoint,
    bucket: BUCKET,
    accessKeyId: KEY,
    secretAccessKey: KEY,
    url: `s3://${BUCKET}?endpoint=${endpoint}&path_style=true&access_key_id=${KEY}&secret_access_key=${KEY}`,
    async close() {
      await server.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Chooses where blobs are stored: a directory, or an S3-compatible store, whose SDK is loaded only then. */
import type { BlobStore } from './stores/blobs.ts'
import { openDiskBlobs } from './disk/disk-blobs.ts'
import type { S3BlobOptions } from './s3/s3-blobs.ts'

export type BlobPlace =
  | { readonly kind: 'disk'; readonly directory: string }
  | (S3BlobOptions & { readonly kind: 's3' })

/** `now`: epoch ms. */
export async function openBlobs(place: BlobPlace, now: () => number): Promise<BlobStore> {
  if (place.kind === 'disk') return openDiskBlobs({ directory: place.directory, now })
  const { openS3Blobs } = await import('./s3/s3-blobs.ts')
  return openS3Blobs(place)
}

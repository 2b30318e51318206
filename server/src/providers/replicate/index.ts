import type { Provider } from '../provider.ts'
import { replicateImages } from './images.ts'
import { replicateVideo } from './video.ts'

/** Replicate: a chain names a model (`owner/name`), a version of one (`owner/name:hash`) or a deployment (`deployments/owner/name`). */
export const replicate: Provider = {
  kind: 'replicate',
  name: 'Replicate',
  defaultBaseUrl: 'https://api.replicate.com/v1',
  publicFields: [],
  dialects: { images: replicateImages },
  video: replicateVideo,
}

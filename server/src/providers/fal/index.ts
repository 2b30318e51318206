import type { Provider } from '../provider.ts'
import { falImages } from './images.ts'
import { falVideo } from './video.ts'

/** fal's queue: thousands of endpoints, each with its own form; a chain names one by its path. */
export const fal: Provider = {
  kind: 'fal',
  name: 'fal',
  defaultBaseUrl: 'https://queue.fal.run',
  publicFields: [],
  dialects: { images: falImages },
  video: falVideo,
}

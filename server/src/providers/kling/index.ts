import type { Provider } from '../provider.ts'
import { klingImages } from './images.ts'
import { klingVideo } from './video.ts'

/** International address; the mainland one is `https://api-beijing.klingai.com`. An API key, or access and secret key. */
export const kling: Provider = {
  kind: 'kling',
  name: 'Kling',
  defaultBaseUrl: 'https://api-singapore.klingai.com',
  publicFields: [],
  dialects: { images: klingImages },
  video: klingVideo,
}

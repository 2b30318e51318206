import { soraVideo } from '../video-forms/sora.ts'

export const openaiVideo = soraVideo({ upstream: 'sora' })

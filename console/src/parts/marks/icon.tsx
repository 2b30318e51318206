/** The icons of the console: one path each on a grid of 16, with a stroke of 1.5. */
import parts from '../page/parts.module.css'

const PATHS = {
  attach: 'M12.5 7.5 8 12a2.8 2.8 0 0 1-4-4l4.8-4.8a1.9 1.9 0 0 1 2.7 2.7L6.8 10.6',
  bell: 'M4 11V7a4 4 0 0 1 8 0v4l1 1.5H3zM6.8 14h2.4',
  book: 'M3 3h4a1 1 0 0 1 1 1v9.5a1 1 0 0 0-1-1H3zM13 3H9a1 1 0 0 0-1 1v9.5a1 1 0 0 1 1-1h4z',
  calls: 'M2.5 4h11M2.5 8h7M2.5 12h9M13 8h.01',
  check: 'M3.5 8.5 6.5 11.5 12.5 5',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.8V8l2.2 1.5',
  close: 'M4 4l8 8M12 4l-8 8',
  copy: 'M5.5 5.5h8v8h-8zM3.5 10.5h-1v-8h8v1',
  device: 'M2.5 3.5h11v7h-11zM5.5 13.5h5M8 10.5v3',
  done: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM5.5 8.2l1.8 1.8 3.3-3.6',
  down: 'M4.5 6.5 8 10l3.5-3.5',
  edit: 'M3 13l.6-2.8L10.8 3a1.2 1.2 0 0 1 1.7 0l.5.5a1.2 1.2 0 0 1 0 1.7L5.8 12.4z',
  elsewhere: 'M6.5 3.5h-3v9h9v-3M9 3h4v4M13 3 7.5 8.5',
  export: 'M8 2.5v7.5M5 5.5l3-3 3 3M3 10.5v3h10v-3',
  eye: 'M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 9.7a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4z',
  eyeClosed: 'M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM3 13 13 3',
  failed: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM6 6l4 4M10 6l-4 4',
  fellBack: 'M3 6h7.5a3 3 0 0 1 0 6H7M5.5 3.5 3 6l2.5 2.5',
  filter: 'M2.5 4h11M4.5 8h7M6.5 12h3',
  gift: 'M3 7.5h10v6H3zM2.5 5h11v2.5h-11zM8 5v8.5M8 5C6 5 5 4.3 5 3.4S6 2 6.7 2.5 8 5 8 5zM8 5c2 0 3-.7 3-1.6S10 2 9.3 2.5 8 5 8 5z',
  image: 'M2.5 3h11v10h-11zM2.5 11l3.2-3.2 2.3 2.4 2.5-3 3 3.3M5.8 6.2h.01',
  info: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 7.3v3.4M8 5.2h.01',
  key: 'M10.2 2.6a3.2 3.2 0 1 1-2.4 5.3L3.4 12.3v1.2H2V12l5-5a3.2 3.2 0 0 1 3.2-4.4zM10.8 5.4h.01',
  language:
    'M2 3.5h7M5.5 2v1.5M7.5 3.5C7 6.5 5 8.7 2.3 9.8M3.8 5.8C4.6 7.6 6 9 7.8 9.7M8 14l3-7 3 7M9 11.8h4',
  left: 'M13 8H3M6.5 4.5 3 8l3.5 3.5',
  mail: 'M2.5 4h11v8.5h-11zM2.5 4.5 8 9l5.5-4.5',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  models: 'M8 2 13.5 5v6L8 14l-5.5-3V5zM2.5 5 8 8l5.5-3M8 8v6',
  moon: 'M13.3 9.6A5.7 5.7 0 0 1 6.4 2.7a5.7 5.7 0 1 0 6.9 6.9z',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  organisation:
    'M5.5 7a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM2 13c0-2 1.5-3.4 3.5-3.4S9 11 9 13M10.8 7.2a1.7 1.7 0 1 0 0-3.4M11 9.8c1.8.1 3 1.4 3 3.2',
  overview: 'M2.5 8.5h4v5h-4zM9.5 2.5h4v4h-4zM2.5 2.5h4v3h-4zM9.5 9.5h4v4h-4z',
  panel: 'M2.5 3h11v10h-11zM6 3v10',
  passkey:
    'M5 12.5c.8-1.3 1-2.7 1-4.5a2 2 0 0 1 4 0c0 2-.2 3.7-.8 5.5M3.3 10.5c.3-.8.4-1.6.4-2.5a4.3 4.3 0 0 1 8.6 0c0 1.4-.1 2.7-.4 4',
  paused: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM6.6 6v4M9.4 6v4',
  person: 'M8 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM3 13.8c0-2.6 2-4.3 5-4.3s5 1.7 5 4.3',
  phone: 'M5 1.8h6v12.4H5zM7.2 12h1.6',
  play: 'M5 3.2v9.6l7.5-4.8z',
  plus: 'M8 3v10M3 8h10',
  right: 'M3 8h10M9.5 4.5 13 8l-3.5 3.5',
  rotate: 'M13 8a5 5 0 1 1-1.6-3.7M13 2.5v3h-3',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.3 10.3 13.5 13.5',
  send: 'M2.5 8 13.5 3l-3 10.5-3-4.5zM7.5 9l6-6',
  settings:
    'M8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM8 1.8v2M8 12.2v2M1.8 8h2M12.2 8h2M3.6 3.6 5 5M11 11l1.4 1.4M12.4 3.6 11 5M5 11l-1.4 1.4',
  signOut: 'M9.5 2.5h-6v11h6M7 8h7M11.5 5.5 14 8l-2.5 2.5',
  sliders: 'M2.5 5h6M11.5 5h2M2.5 11h2M7.5 11h6M10 3.5v3M6 9.5v3',
  stop: 'M4.5 4.5h7v7h-7z',
  sun: 'M8 10.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM8 1.5v1.5M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1 1M11.6 11.6l1 1M12.6 3.4l-1 1M4.4 11.6l-1 1',
  tool: 'M10.3 2.5a3.5 3.5 0 0 0-3.6 4.8L2.6 11.4l2 2 4.1-4.1a3.5 3.5 0 0 0 4.5-4.4L11.2 7 9 4.8l2-2.1z',
  trash: 'M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.5 9h6l.5-9M6.8 7v4M9.2 7v4',
  up: 'M4.5 9.5 8 6l3.5 3.5',
  usage: 'M2.5 13.5h11M4.5 13V8.5M8 13V3M11.5 13V6',
  user: 'M8 14.2A6.2 6.2 0 1 0 8 1.8a6.2 6.2 0 0 0 0 12.4zM8 8.3a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM4.2 12.6c.6-1.5 2-2.3 3.8-2.3s3.2.8 3.8 2.3',
  wallet: 'M2.5 5.5v7h11v-7zM2.5 5.5 10 2.5v3M10.8 9h.01',
  warning: 'M8 2.2 14.5 13.5h-13zM8 6.5v3M8 11.5h.01',
} as const satisfies Readonly<Record<string, string>>

export type IconName = keyof typeof PATHS
type Size = 14 | 16 | 20

/** Hidden from screen readers: there is a word beside it, or its button has a label. */
export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: Size }) {
  return <Sign path={PATHS[name]} size={size} />
}

/** An icon that only some pages use: its path is loaded with them. */
export function Sign({ path, size = 16 }: { readonly path: string; readonly size?: Size }) {
  return (
    <svg className={parts.icon} viewBox="0 0 16 16" width={size} height={size} aria-hidden="true">
      <path d={path} />
    </svg>
  )
}

/** The library's dialog components, loaded when the first dialog opens. */
export { Drawer, Modal } from '@mantine/core'

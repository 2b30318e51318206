/** What dialogs are drawn in, which comes when the first one opens. */
export { Drawer, Modal } from '@mantine/core'

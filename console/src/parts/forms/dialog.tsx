import type { DrawerProps, ModalProps } from '@mantine/core'
import { Suspense, useState } from 'react'
import { late } from '../page/late.ts'
import { useTranslation } from '../../texts/use-translation.ts'

const Modal = late(async () => (await import('./dialog-frames.ts')).Modal)
const Drawer = late(async () => (await import('./dialog-frames.ts')).Drawer)

/** A modal dialog. */
export function Dialog(props: Omit<ModalProps, 'opened'>) {
  const { t } = useTranslation()
  const kept = useKeptInput()
  return (
    <Suspense>
      <Modal closeButtonProps={{ 'aria-label': t('close') }} {...kept} {...props} opened />
    </Suspense>
  )
}

/** A drawer beside the page; `opened` is false only while its content is loading. */
export function Sheet({
  opened = true,
  ...props
}: Omit<DrawerProps, 'opened'> & { readonly opened?: boolean }) {
  const { t } = useTranslation()
  const kept = useKeptInput()
  if (!opened) return null
  return (
    <Suspense>
      <Drawer closeButtonProps={{ 'aria-label': t('close') }} {...kept} {...props} opened />
    </Suspense>
  )
}

/** Once something was typed, a click beside the dialog does not close it: the input would be lost by accident. */
function useKeptInput() {
  const [isTouched, touch] = useState(false)
  return { closeOnClickOutside: !isTouched, onInput: () => touch(true) }
}

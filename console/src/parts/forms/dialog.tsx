import type { DrawerProps, ModalProps } from '@mantine/core'
import { Suspense, useEffect, useState } from 'react'
import { late } from '../page/late.ts'
import { useTranslation } from '../../texts/use-translation.ts'

const Modal = late(async () => (await import('./dialog-frames.ts')).Modal)
const Drawer = late(async () => (await import('./dialog-frames.ts')).Drawer)

/** A modal dialog. */
export function Dialog(props: Omit<ModalProps, 'opened'>) {
  const { t } = useTranslation()
  const kept = useKeptInput()
  useFocusReturn()
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
  useFocusReturn()
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

/** What had the focus when a dialog was opened by the page, and not by another dialog. */
let openerOnPage: HTMLElement | undefined

/** Gives the focus back to what opened the dialog. The library does so when a dialog is closed; ours are unmounted instead. */
function useFocusReturn(): void {
  const [opener] = useState(findFocused)
  useEffect(() => {
    if (opener?.closest('[role="dialog"]') === null) openerOnPage = opener
    return () => {
      if (opener === undefined || findFocused() !== undefined) return
      // A dialog that took the place of another one was opened from that one.
      const to = opener.isConnected ? opener : openerOnPage
      to?.focus({ preventScroll: true })
    }
  }, [opener])
}

/** The element with the focus; the button of a menu for an item of it, which is gone after the choice. */
function findFocused(): HTMLElement | undefined {
  const { activeElement } = document
  const menu = activeElement?.closest('[role="menu"]')
  const label = menu?.getAttribute('aria-labelledby')
  const found = typeof label === 'string' ? document.getElementById(label) : activeElement
  return found instanceof HTMLElement && found !== document.body ? found : undefined
}

import { Drawer, type DrawerProps, Modal, type ModalProps } from '@mantine/core'
import { useTranslation } from 'react-i18next'

/** Over the page, until it is answered. */
export function Dialog(props: Omit<ModalProps, 'opened'>) {
  const { t } = useTranslation()
  return <Modal closeButtonProps={{ 'aria-label': t('close') }} {...props} opened />
}

/** Beside the page; `opened` is false only while what it shows is not known yet. */
export function Sheet({
  opened = true,
  ...props
}: Omit<DrawerProps, 'opened'> & { readonly opened?: boolean }) {
  const { t } = useTranslation()
  return <Drawer closeButtonProps={{ 'aria-label': t('close') }} {...props} opened={opened} />
}

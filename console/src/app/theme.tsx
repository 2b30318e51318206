/** Maps the library's components to our classes; the values are in tokens.css. */

import type {
  ActionIconFactory,
  ButtonFactory,
  CheckboxFactory,
  CloseButtonFactory,
  ComboboxFactory,
  DrawerFactory,
  ExtendComponent,
  FactoryPayload,
  InputFactory,
  InputWrapperFactory,
  MenuFactory,
  ModalFactory,
  NumberInputFactory,
  PasswordInputFactory,
  PopoverFactory,
  SelectFactory,
  SkeletonFactory,
  SwitchFactory,
  TabsFactory,
  TooltipFactory,
} from '@mantine/core'
import { createTheme } from '@mantine/core'
import { Icon } from '../parts/marks/icon.tsx'
import controls from './controls.module.css'

/** Ms; long enough to see where something moved. */
const MOTION_MS = 120
const FADE = { transition: 'fade', duration: MOTION_MS } as const
const DIALOG_CLASSES = {
  overlay: controls.overlay,
  header: controls.dialogHeader,
  title: controls.dialogTitle,
  body: controls.dialogBody,
  close: controls.dialogClose,
}
/** The library would lock scrolling with an inline style, which the policy forbids; base.css locks it instead. */
const HELD_PAGE = { lockScroll: false, overlayProps: { 'data-holds-scroll': true } as object }
/** The heading of a dialog is not a heading of the page. */
const DIALOG = { ...HELD_PAGE, attributes: { header: { role: 'presentation' } } }

/** Only types are imported: each component is loaded with the page that uses it. */
function look<Component extends FactoryPayload>(
  given: ExtendComponent<Component>,
): ExtendComponent<Component> {
  return given
}

export const theme = createTheme({
  respectReducedMotion: true,
  cursorType: 'pointer',
  primaryColor: 'teal',
  components: {
    Button: look<ButtonFactory>({
      defaultProps: { size: 'sm' },
      classNames: { root: controls.button, label: controls.buttonLabel, section: controls.buttonSection },
    }),
    ActionIcon: look<ActionIconFactory>({
      defaultProps: { variant: 'subtle' },
      classNames: { root: controls.icon },
    }),
    CloseButton: look<CloseButtonFactory>({ defaultProps: { iconSize: 16 } }),
    Input: look<InputFactory>({
      classNames: { wrapper: controls.inputWrapper, input: controls.input, section: controls.section },
    }),
    InputWrapper: look<InputWrapperFactory>({
      defaultProps: { inputWrapperOrder: ['label', 'description', 'input', 'error'] },
      classNames: {
        label: controls.label,
        required: controls.required,
        description: controls.description,
        error: controls.error,
      },
    }),
    PasswordInput: look<PasswordInputFactory>({
      defaultProps: { visibilityToggleIcon: ({ reveal }) => <Icon name={reveal ? 'eyeClosed' : 'eye'} /> },
      classNames: { input: controls.input },
    }),
    NumberInput: look<NumberInputFactory>({ defaultProps: { hideControls: true, thousandSeparator: ',' } }),
    Select: look<SelectFactory>({
      defaultProps: {
        allowDeselect: false,
        checkIconPosition: 'right',
        comboboxProps: { transitionProps: FADE },
      },
    }),
    Combobox: look<ComboboxFactory>({
      // Options are rendered when the list is opened, not with the page.
      defaultProps: { keepMounted: false },
      classNames: { dropdown: controls.dropdown, option: controls.item, groupLabel: controls.menuLabel },
    }),
    Popover: look<PopoverFactory>({
      // Inside a landmark, as the accessibility rules ask.
      defaultProps: { transitionProps: FADE, portalProps: { target: 'main' } },
      classNames: { dropdown: controls.dropdown },
    }),
    Menu: look<MenuFactory>({
      // A menu may contain only its items, so the first item gets the focus.
      defaultProps: { transitionProps: FADE, position: 'bottom-end', withInitialFocusPlaceholder: false },
      classNames: {
        dropdown: controls.dropdown,
        item: controls.item,
        label: controls.menuLabel,
        divider: controls.divider,
      },
    }),
    Modal: look<ModalFactory>({
      defaultProps: { ...DIALOG, centered: true, transitionProps: FADE, size: 480 },
      classNames: { ...DIALOG_CLASSES, content: controls.dialog },
    }),
    Drawer: look<DrawerFactory>({
      defaultProps: {
        ...DIALOG,
        position: 'right',
        size: 560,
        transitionProps: { duration: MOTION_MS },
      },
      classNames: { ...DIALOG_CLASSES, content: controls.sheet },
    }),
    Tooltip: look<TooltipFactory>({
      defaultProps: { transitionProps: FADE, openDelay: 300 },
      classNames: { tooltip: controls.tooltip },
    }),
    Tabs: look<TabsFactory>({ classNames: { list: controls.tabList, tab: controls.tab } }),
    Checkbox: look<CheckboxFactory>({
      classNames: { input: controls.checkbox, label: controls.optionLabel },
    }),
    Switch: look<SwitchFactory>({
      defaultProps: { withThumbIndicator: false },
      classNames: { track: controls.track, label: controls.optionLabel },
    }),
    Skeleton: look<SkeletonFactory>({ classNames: { root: controls.skeleton } }),
  },
})

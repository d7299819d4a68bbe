import './styles/fonts.css';
import './styles/tokens.css';
import './styles/base.css';
import './styles/floating.css';

import { askAhead } from './api/ahead';

// The first rows are asked for before the rest of the page's code runs, which takes longer than hookmitt's answer.
void askAhead().finally(() => import('./start'));

import './styles/fonts.css';
import './styles/tokens.css';
import './styles/base.css';
import './styles/floating.css';

import { mount } from 'svelte';

import App from './App.svelte';
import { prefs } from './state/prefs.svelte';

prefs.apply();
const target = document.getElementById('app');
if (target) mount(App, { target });

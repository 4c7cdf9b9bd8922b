// What the page uses of uPlot 1.6 (vendor/uPlot.min.mjs).

declare namespace uPlot {
  type Values = (number | null)[][];
  type Value = number | null | undefined;

  interface Size {
    width: number;
    height: number;
  }

  interface Points {
    show?: boolean;
    size?: number;
    width?: number;
    fill?: string;
    stroke?: string;
  }

  interface Series {
    label?: string;
    value?: (plot: uPlot, value: Value) => string;
    stroke?: string;
    dash?: number[];
    width?: number;
    paths?: () => null;
    points?: Points;
  }

  /** A series as the plot has it: uPlot makes functions of what it is given. */
  interface DrawnSeries {
    dash?: number[];
    stroke: () => string;
  }

  /** The mark of a line in the legend. */
  interface Markers {
    width: number;
    dash: (plot: uPlot, place: number) => string;
    stroke: (plot: uPlot, place: number) => string;
    fill: (plot: uPlot, place: number) => string;
  }

  interface Axis {
    label?: string;
    size?: number;
    values?: (plot: uPlot, values: number[]) => string[];
  }

  interface Scale {
    time?: boolean;
    range?: [number, number] | ((plot: uPlot, least: number, most: number) => [number, number]);
  }

  /** What a chart says of itself. */
  interface Options {
    series: Series[];
    axes: Axis[];
    scales?: Record<string, Scale>;
    legend?: { live?: boolean };
  }
}

declare class uPlot {
  constructor(options: uPlot.Options & uPlot.Size & object, data: uPlot.Values, place: Element);
  readonly cursor: { left: number; idx: number | null };
  readonly data: uPlot.Values;
  readonly series: uPlot.DrawnSeries[];
  setData(data: uPlot.Values): void;
  setSize(size: uPlot.Size): void;
  setLegend(values: { idx: number }, fire: boolean): void;
  destroy(): void;
}

export default uPlot;

import java.util.*;

public class Main {
    /** Größe — ein Maß für „Länge“ 😀. */
    static int größe(int länge, String naïve) {
        String 漢字 = "日本語😀𝒳" + naïve; // Kommentar: ß😀
        int été = 0;
        boolean wäre = naïve.length() > 2; /* 😀 */ for (int ñ = 0; ñ < länge; ñ++) { été += ñ; if (wäre && été > 3) été--; }
        switch (naïve) { case "é😀": été += 100; break; /* ü */ default: été += 漢字.length(); }
        char c = '\u00e9', tab = '\t'; String esc = "\u00fcber \\u0041 \uD83D\uDE00";
        if (c < 'ÿ' || tab == '\t') été += esc.length(); else été = -1;
        return été;
    }

    public static void main(String[] args) {
        System.out.println(größe(5, "é😀") + " " + größe(3, "a"));
    }
}

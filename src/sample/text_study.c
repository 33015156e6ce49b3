/* text_study.c - a university department: courses in English, and what it tells guests in Chinese, Korean, Hindi and
 * Arabic. */
#include "sample/texts.h"

/* ---- courses: name, code, teacher, credits, room, topic, exam, remark ---- */

static const struct subject courses[] = {
    {{"graph-theory", "Graph Theory", "MA 210", "Professor Lena Hoffmann", "6", "the old lecture hall",
      "trees, matchings, planar graphs and colourings", "a written exam of three hours",
      "The bridges of the town are walked in the second week, all seven of them."}},
    {{"compilers", "Compiler Construction", "CS 340", "Doctor Kwame Asante", "8", "the basement laboratory",
      "lexers, parsers, types and code generation", "a working compiler",
      "The language to compile is small, strange, and changes every year."}},
    {{"medieval-trade", "Medieval Trade Routes", "HI 115", "Professor Ottavia Ricci", "4", "seminar room 3",
      "salt, wool, ships and letters of credit", "an essay of ten pages",
      "Students follow one sack of pepper from harbour to kitchen."}},
    {{"soil-science", "Soil Science", "EN 220", "Doctor Maeve Kinsella", "5", "the greenhouse",
      "clay, humus, water and roots", "a field report", "Boots are required; essays without mud are returned."}},
    {{"phonetics", "Phonetics", "LI 130", "Professor Yusuf Demir", "5", "the sound studio",
      "vowels, consonants, tone and transcription", "a recorded dialogue",
      "By the end everyone can whistle a sentence and transcribe the answer."}},
    {{"game-theory", "Game Theory", "EC 305", "Professor Alice Novak", "6", "the round room",
      "equilibria, auctions and bargaining", "an auction, with real apples",
      "Nobody is told who the other players are until the exam."}},
    {{"marine-biology", "Marine Biology", "BI 250", "Doctor Tomas Eriksen", "7", "the harbour station",
      "plankton, tides, fish and food webs", "a week on the survey boat",
      "Seasickness is not accepted as an excuse, only as an experience."}},
    {{"operating-systems", "Operating Systems", "CS 320", "Doctor Priya Raman", "8", "the basement laboratory",
      "scheduling, memory, files and locks", "a scheduler that survives the night",
      "The lecture on deadlock has never ended on time."}},
    {{"book-history", "History of the Book", "HI 140", "Professor Ottavia Ricci", "4", "the library annex",
      "scrolls, type, paper and piracy", "a folded, sewn and bound notebook",
      "The exam is written in the notebook you bound."}},
    {{"statistics", "Statistics for Everybody", "MA 101", "Doctor Samuel Oduya", "5", "the large auditorium",
      "samples, errors, tests and doubt", "a survey of the canteen",
      "The canteen has changed its menu four times because of this course."}},
};

static const struct aspect course_aspects[] = {
    {"", "{2} {1}", "{1} ({2}), taught by {3}: {6}; {4} credits.",
     "{1} is taught by {3} in {5} and gives {4} credits. It covers {6}. {8}\n"
     "[Lectures are on {d} and {d}.|There are two lectures a week, on {d} and {d}.] The course ends with {7}. "
     "[Enrolment closes on {%}.|Up to {#12-90} students can take part.]\n"
     "# At a glance\n- Code: {2}\n- Teacher: {3}\n- Credits: {4}\n- Room: {5}\n- Exam: {7}\n"
     "[Goes well with {~}.|A good start is {~}.|Cannot be combined with {~}, which is at the same hour.]\n"},
    {"syllabus.html", "Syllabus of {1}", "Week by week: what {2} {1} covers, and what to read.",
     "The syllabus of {1} [for this term|, revised on {%}|]. Topics: {6}.\n"
     "# Weeks\n- 1: [introduction and a promise|what the words mean]\n- 2 to 4: [foundations|the first third of the "
     "topics]\n- 5: [a guest from practice|an excursion]\n- 6 to 9: [the hard part|methods]\n- 10: [review|open "
     "questions]\n- 11: {7}\n"
     "# Reading\n[One book, read to the end, is worth ten begun.|The reader is sold at cost by the porter.] [{#30-90} "
     "pages a week.|About {#4-9} hours a week outside {5}.] {8}\n"},
    {"exam.html", "Exam of {1}: {7}", "How {1} is examined, with dates, rules and advice of former students.",
     "The exam of {1} is {7}. [It takes place in {5}.|Place: {5}, unless it rains in.] [You may bring one sheet of "
     "notes.|Notes are allowed, neighbours are not.] [Last year {#60-95} of 100 passed.|The mean mark was "
     "{#2-3}.{#1-9}.]\n"
     "# Advice of former students\n- [\"Begin before the last week.\"|\"Sleep.\"]\n- [\"Ask {3}; the door is "
     "open.\"|\"Do the exercises, all of them.\"]\n- [\"Know {6}, and why.\"|\"It is easier than the course.\"]\n"
     "{8} [Those who fail may repeat it in {d} week.|A second try is possible after {#4-8} weeks.]\n"},
    {"projects.html", "Student projects in {1}", "Theses and projects that came out of {2} {1}.",
     "[Every year the best projects of {1} are shown in {5}.|From {1} came some projects that outlived the course.] "
     "[They deal with {6}.|The field is wide: {6}.]\n"
     "# A few of them\n- {A}: [a map nobody had asked for|a model made of string]\n- {a}: [measurements over {#20-90} "
     "nights|a catalogue of {#40-400} cases]\n- {a}: [a failure, well described|a proof on one page]\n"
     "{8} [Supervised by {3}.|{3} takes {#2-6} theses a year.] [See also the projects of {~}.|Joint projects with {~} "
     "are welcome.]\n"},
};

const struct theme theme_courses = {
    .lang = "en",
    .folder = "courses",
    .name = "Courses of the department",
    .about = "Ten courses with syllabus, exam and student projects. [The numbers in front are the codes for "
             "enrolment.|Guests are welcome in all lectures and in no exams.]\nEnrolment is open until the second week "
             "of term.\n",
    SUBJECTS(courses),
    ASPECTS(course_aspects),
    .pools = {"Ines Carvalho|Jonas Weber|Mei Tanaka|Olu Adeyemi|Freya Lund", NULL, NULL,
              "Monday|Tuesday|Wednesday|Thursday|Friday"},
};

/* ---- 课程：名称、教师、学分、教室、内容、考试、说明 ---- */

static const struct subject kecheng[] = {
    {{"tulun", "图论", "霍夫曼教授", "6", "旧礼堂", "树、匹配、平面图和着色", "三小时的笔试",
      "第二周大家会走遍城里的七座桥。"}},
    {{"bianyi", "编译原理", "阿桑特博士", "8", "地下实验室", "词法分析、语法分析和代码生成", "一个能运行的编译器",
      "要编译的语言每年都会改变。"}},
    {{"turang", "土壤学", "金塞拉博士", "5", "温室", "黏土、腐殖质、水和根", "野外报告",
      "必须穿雨靴，没有泥土的报告会被退回。"}},
    {{"yuyin", "语音学", "德米尔教授", "5", "录音室", "元音、辅音、声调和记音", "一段对话录音",
      "课程结束时，每个人都会用口哨说一句话。"}},
    {{"haiyang", "海洋生物学", "埃里克森博士", "7", "港口工作站", "浮游生物、潮汐、鱼类和食物网", "在考察船上工作一周",
      "晕船不是理由，只是经验。"}},
    {{"caozuo", "操作系统", "拉曼博士", "8", "地下实验室", "调度、内存、文件和锁", "一个能运行一整夜的调度器",
      "关于死锁的那一讲从来没有按时结束。"}},
    {{"shushi", "书籍史", "里奇教授", "4", "图书馆附楼", "卷轴、活字、纸张和盗版", "自己装订的笔记本",
      "考试就写在自己装订的笔记本里。"}},
    {{"tongji", "统计学入门", "奥杜亚博士", "5", "大礼堂", "样本、误差、检验和怀疑", "食堂调查",
      "因为这门课，食堂已经换了四次菜单。"}},
};

static const struct aspect kecheng_aspects[] = {
    {"", "{1}课程介绍", "{1}由{2}讲授，{3}学分，地点在{4}。",
     "{1}由{2}讲授，共{3}学分，上课地点是{4}。[内容包括{5}。|主要内容是{5}。]{7}\n"
     "[课程最后的考核是{6}。|期末要完成{6}。][留学生可以用英文提问。|我们欢迎来自各国的学生。]\n"
     "# 基本信息\n- 教师：{2}\n- 学分：{3}\n- 地点：{4}\n- 考核：{6}\n[也可以看看{~}。|建议先学习{~}。]\n"},
    {"dagang.html", "{1}教学大纲", "{1}每周的教学内容和阅读材料。",
     "这是{1}的教学大纲，[每周两次课|每周一次课，一次练习]。内容有{5}。\n"
     "# 每周安排\n- 第一周：[课程介绍|基本概念]\n- 第二到第四周：[基础知识|主要方法]\n- 第五周：[参观|客座讲座]\n- "
     "第六到第九周：[深入学习|练习和讨论]\n- 第十周：复习\n"
     "[每周大约阅读{#20-60}页。|课外学习大约需要{#4-9}小时。]{7}[问题请写信给{2}。|{2}每周三下午答疑。]\n"},
    {"zixun.html", "{1}常见问题", "留学生选修{1}时常问的问题。",
     "# 需要基础知识吗？\n[不需要，认真就够了。|最好学过一门相关的课程。]\n"
     "# 用什么语言上课？\n[上课用英语，讲义有中文。|讲课用英语，考试可以用中文回答。]\n"
     "# 怎么考试？\n考核方式是{6}。[去年有{#60-95}%的学生通过。|不及格可以补考一次。]\n"
     "# 在哪里上课？\n在{4}。{7}[从宿舍走路大约{#5-20}分钟。|请提前十分钟到。]\n"},
};

const struct theme theme_kecheng = {
    .lang = "zh",
    .folder = "zh",
    .name = "给留学生的课程介绍",
    .about =
        "这里为留学生介绍八门课程，每门课程都有介绍、教学大纲和常见问题。如果您有其他问题，请写信给国际学生办公室。\n"
        "办公室每天上午开放，下午我们带新同学参观校园和图书馆。\n",
    SUBJECTS(kecheng),
    ASPECTS(kecheng_aspects),
};

/* ---- 강의: 이름, 교수, 학점, 강의실, 내용, 시험, 설명 ---- */

static const struct subject gangui[] = {
    {{"graph", "그래프 이론", "호프만 교수", "6", "옛 강당", "트리, 매칭, 평면 그래프와 색칠", "세 시간짜리 필기시험",
      "둘째 주에는 도시의 다리 일곱 개를 모두 걸어서 건넙니다."}},
    {{"compiler", "컴파일러 구성", "아산테 박사", "8", "지하 실험실", "구문 분석과 코드 생성", "작동하는 컴파일러",
      "과제로 주어지는 언어는 해마다 달라집니다."}},
    {{"toyang", "토양학", "킨셀라 박사", "5", "온실", "점토와 물과 뿌리", "현장 보고서", "장화를 꼭 신어야 합니다."}},
    {{"eumseong", "음성학", "데미르 교수", "5", "녹음실", "모음과 자음과 성조", "녹음한 대화",
      "학기가 끝나면 누구나 휘파람으로 문장을 말할 수 있습니다."}},
    {{"haeyang", "해양 생물학", "에릭센 박사", "7", "항구 연구소", "플랑크톤과 조수와 물고기",
      "조사선에서 보내는 일주일", "뱃멀미는 핑계가 아니라 경험입니다."}},
    {{"tonggye", "통계학 입문", "오두야 박사", "5", "큰 강당", "표본과 오차와 검정", "학생 식당 조사",
      "이 강의 때문에 식당의 메뉴가 네 번 바뀌었습니다."}},
};

static const struct aspect gangui_aspects[] = {
    {"", "{1} 강의 안내", "{1}: {2}, {3}학점, {4}에서 진행됩니다.",
     "{1} 강의는 {2}가 맡고 있으며 {3}학점입니다. 장소는 {4}입니다. [배우는 내용은 {5}입니다.|강의에서는 {5} 등을 "
     "다룹니다.] {7}\n"
     "[평가는 {6}로 합니다.|학기 말에는 이것을 준비합니다: {6}.] [외국인 학생도 환영합니다.|질문은 영어로 해도 "
     "됩니다.]\n"
     "# 요약\n- 담당: {2}\n- 학점: {3}\n- 장소: {4}\n- 평가: {6}\n[함께 들으면 좋은 강의: {~}.|먼저 들으면 좋은 강의: "
     "{~}.]\n"},
    {"gyehoek.html", "{1} 강의 계획서", "{1}의 주별 강의 계획과 읽을거리.",
     "{1}의 강의 계획서입니다. [일주일에 두 번 수업이 있습니다.|매주 한 번의 강의와 한 번의 연습이 있습니다.] 내용은 "
     "{5}입니다.\n"
     "# 주별 계획\n- 1주: [소개|기본 개념]\n- 2주부터 4주: [기초|방법]\n- 5주: [견학|특강]\n- 6주부터 9주: [심화 "
     "학습|토론]\n- 10주: 복습\n"
     "[매주 {#20-60}쪽을 읽습니다.|수업 밖에서 {#4-9}시간 정도 공부해야 합니다.] {7}\n"},
    {"jilmun.html", "{1}에 대한 자주 묻는 질문", "외국인 학생이 {1} 강의에 대해 자주 묻는 질문.",
     "# 어떤 언어로 수업하나요?\n[영어로 수업하고 한국어 자료가 있습니다.|강의는 영어이지만 답안은 한국어로 써도 "
     "됩니다.]\n"
     "# 시험은 어떻게 보나요?\n평가 방법은 {6}입니다. [작년에는 {#60-95}퍼센트가 합격했습니다.|한 번 더 볼 수 "
     "있습니다.]\n"
     "# 어디에서 하나요?\n{4}에서 합니다. {7} [기숙사에서 걸어서 {#5-20}분 걸립니다.|십 분 일찍 오세요.]\n"},
};

const struct theme theme_gangui = {
    .lang = "ko",
    .folder = "ko",
    .name = "유학생을 위한 강의 안내",
    .about = "유학생을 위해 여섯 과목을 소개합니다. 과목마다 안내, 강의 계획서, 자주 묻는 질문이 있습니다.\n"
             "국제 학생 사무실은 매일 오전에 열려 있으니 궁금한 점이 있으면 언제든지 물어보세요.\n",
    SUBJECTS(gangui),
    ASPECTS(gangui_aspects),
};

/* ---- पाठ्यक्रम: नाम, शिक्षक, क्रेडिट, कमरा, विषय, परीक्षा, टिप्पणी ---- */

static const struct subject pathyakram[] = {
    {{"graf", "ग्राफ़ सिद्धांत", "प्रोफ़ेसर हॉफ़मैन", "6", "पुराना सभागार", "वृक्ष, मिलान और रंग भरना", "तीन घंटे की लिखित परीक्षा",
      "दूसरे सप्ताह में सब छात्र शहर के सातों पुल पार करते हैं।"}},
    {{"mitti", "मृदा विज्ञान", "डॉक्टर किंसेला", "5", "काँच का घर", "मिट्टी, पानी और जड़ें", "खेत की रिपोर्ट",
      "जूते गंदे हुए बिना कोई पास नहीं होता।"}},
    {{"samudra", "समुद्री जीव विज्ञान", "डॉक्टर एरिक्सन", "7", "बंदरगाह का केंद्र", "ज्वार, मछलियाँ और प्लवक", "नाव पर एक सप्ताह",
      "नाव सुबह पाँच बजे चलती है और किसी का इंतज़ार नहीं करती।"}},
    {{"dhwani", "ध्वनि विज्ञान", "प्रोफ़ेसर देमिर", "5", "रिकॉर्डिंग कक्ष", "स्वर, व्यंजन और सुर", "रिकॉर्ड की हुई बातचीत",
      "अंत में हर छात्र सीटी बजाकर एक वाक्य बोल सकता है।"}},
    {{"pustak", "पुस्तक का इतिहास", "प्रोफ़ेसर रिक्की", "4", "पुस्तकालय का नया भवन", "काग़ज़, छपाई और जिल्द", "अपने हाथ से बनी कॉपी",
      "परीक्षा उसी कॉपी में लिखी जाती है।"}},
    {{"sankhyiki", "सांख्यिकी", "डॉक्टर ओदूया", "5", "बड़ा सभागार", "नमूने, त्रुटियाँ और जाँच", "भोजनालय का सर्वेक्षण",
      "इस पाठ्यक्रम के कारण भोजनालय का खाना चार बार बदला है।"}},
};

static const struct aspect pathyakram_aspects[] = {
    {"", "{1}: परिचय", "{1} का परिचय: {2}, {3} क्रेडिट, {4}।",
     "{1} का पाठ्यक्रम {2} पढ़ाते हैं। इसके लिए {3} क्रेडिट मिलते हैं। [कक्षा का स्थान: {4}।|कक्षा यहाँ होती है: {4}।] [इसमें ये विषय हैं: "
     "{5}।|विषय: {5}।] {7}\n"
     "[अंत में परीक्षा होती है: {6}।|परीक्षा का रूप: {6}।] [विदेशी छात्र अंग्रेज़ी में भी प्रश्न पूछ सकते हैं।|हम सब देशों के छात्रों का स्वागत "
     "करते हैं।]\n"
     "# संक्षेप में\n- शिक्षक: {2}\n- क्रेडिट: {3}\n- स्थान: {4}\n- परीक्षा: {6}\n[यह भी देखें: {~}।|इसके साथ यह भी पढ़ें: {~}।]\n"},
    {"yojana.html", "{1} की पढ़ाई की योजना", "{1} में हर सप्ताह क्या पढ़ाया जाता है।",
     "यह {1} की योजना है। [सप्ताह में दो बार कक्षा होती है।|हर सप्ताह एक कक्षा और एक अभ्यास होता है।]\n"
     "# सप्ताह\n- पहला: [परिचय|मुख्य शब्द]\n- दूसरा से चौथा: [नींव|विधियाँ]\n- पाँचवाँ: [यात्रा|अतिथि का भाषण]\n- छठा से नौवाँ: "
     "[कठिन भाग|चर्चा]\n- दसवाँ: दोहराना\n"
     "[हर सप्ताह लगभग {#20-60} पृष्ठ पढ़ने होते हैं।|घर पर {#4-9} घंटे पढ़ना पड़ता है।] {7}\n"},
    {"prashn.html", "{1} के बारे में प्रश्न", "विदेशी छात्र {1} के बारे में ये प्रश्न पूछते हैं।",
     "# कक्षा किस भाषा में होती है?\n[कक्षा अंग्रेज़ी में होती है, पर नोट्स हिंदी में मिलते हैं।|पढ़ाई अंग्रेज़ी में है, उत्तर हिंदी में लिख सकते हैं।]\n"
     "# परीक्षा कैसी है?\n{6}। [पिछले वर्ष {#60-95} प्रतिशत छात्र पास हुए।|एक बार और परीक्षा दे सकते हैं।]\n"
     "# कक्षा कहाँ है?\n{4}। {7} [छात्रावास से {#5-20} मिनट लगते हैं।|दस मिनट पहले आइए।]\n"},
};

const struct theme theme_pathyakram = {
    .lang = "hi",
    .folder = "hi",
    .name = "विदेशी छात्रों के लिए पाठ्यक्रम",
    .about = "यहाँ छह पाठ्यक्रमों का परिचय, योजना और प्रश्नों के उत्तर दिए गए हैं। यदि आपका कोई और प्रश्न हो तो कार्यालय में पूछिए।\n"
             "कार्यालय हर सुबह खुला रहता है और दोपहर के बाद हम नए छात्रों को पुस्तकालय दिखाते हैं।\n",
    SUBJECTS(pathyakram),
    ASPECTS(pathyakram_aspects),
};

/* ---- المقررات: الاسم، المدرس، الساعات، القاعة، الموضوعات، الامتحان، ملاحظة ---- */

static const struct subject muqarrar[] = {
    {{"bayan", "نظرية البيان", "الأستاذة هوفمان", "6", "القاعة القديمة", "الأشجار والتلوين والمسارات",
      "اختبار كتابي مدته ثلاث ساعات", "في الأسبوع الثاني يعبر الطلاب جسور المدينة السبعة سيرا على الأقدام."}},
    {{"turba", "علم التربة", "الدكتورة كينسيلا", "5", "البيت الزجاجي", "الطين والماء والجذور", "تقرير ميداني",
      "لا ينجح أحد بحذاء نظيف."}},
    {{"bihar", "أحياء البحار", "الدكتور إريكسن", "7", "محطة الميناء", "المد والأسماك والعوالق", "أسبوع على سفينة المسح",
      "تبحر السفينة في الخامسة صباحا ولا تنتظر أحدا."}},
    {{"aswat", "علم الأصوات", "الأستاذ دمير", "5", "غرفة التسجيل", "الحروف والنغم والكتابة الصوتية", "حوار مسجل",
      "في نهاية الفصل يستطيع كل طالب أن يصفر جملة كاملة."}},
    {{"kitab", "تاريخ الكتاب", "الأستاذة ريتشي", "4", "ملحق المكتبة", "الورق والطباعة والتجليد", "دفتر مجلد باليد",
      "يكتب الطالب الامتحان في الدفتر الذي صنعه."}},
    {{"ihsa", "مبادئ الإحصاء", "الدكتور أودويا", "5", "المدرج الكبير", "العينات والأخطاء والاختبارات",
      "استطلاع في المطعم", "تغيرت قائمة الطعام أربع مرات بسبب هذا المقرر."}},
};

static const struct aspect muqarrar_aspects[] = {
    {"", "{1}: تعريف بالمقرر", "{1}: {2}، {3} ساعات معتمدة، {4}.",
     "مقرر {1} من تدريس {2} وله {3} ساعات معتمدة. [المكان: {4}.|تقام المحاضرات هنا: {4}.] [يتناول المقرر "
     "{5}.|موضوعاته: {5}.] {7}\n"
     "[ينتهي المقرر بهذا: {6}.|طريقة التقييم: {6}.] [نرحب بالطلاب من جميع البلدان.|يمكن طرح الأسئلة باللغة الإنجليزية "
     "أيضا.]\n"
     "# باختصار\n- المدرس: {2}\n- الساعات: {3}\n- القاعة: {4}\n- الامتحان: {6}\n[انظر كذلك: {~}.|ننصح قبله بدراسة هذا "
     "المقرر: {~}.]\n"},
    {"khitta.html", "خطة مقرر {1}", "ما يدرس في {1} أسبوعا بعد أسبوع.",
     "هذه خطة مقرر {1}. [هناك محاضرتان كل أسبوع.|كل أسبوع محاضرة واحدة وتمرين واحد.] الموضوعات: {5}.\n"
     "# الأسابيع\n- الأول: [مقدمة|المفاهيم الأساسية]\n- من الثاني إلى الرابع: [الأسس|الطرق]\n- الخامس: [رحلة|محاضرة "
     "ضيف]\n- من السادس إلى التاسع: [الجزء الصعب|النقاش]\n- العاشر: مراجعة\n"
     "[يقرأ الطالب نحو {#20-60} صفحة كل أسبوع.|يحتاج الطالب إلى {#4-9} ساعات خارج القاعة.] {7}\n"},
    {"asila.html", "أسئلة عن مقرر {1}", "ما يسأل عنه الطلاب الدوليون في مقرر {1}.",
     "# بأي لغة يدرس المقرر؟\n[بالإنجليزية، والملخصات متوفرة بالعربية.|المحاضرات بالإنجليزية ويمكن الإجابة بالعربية.]\n"
     "# كيف يكون الامتحان؟\n{6}. [نجح في العام الماضي {#60-95} في المئة من الطلاب.|يمكن إعادة الامتحان مرة واحدة.]\n"
     "# أين القاعة؟\n{4}. {7} [تبعد عن السكن {#5-20} دقيقة سيرا.|يرجى الحضور قبل الموعد بعشر دقائق.]\n"},
};

const struct theme theme_muqarrar = {
    .lang = "ar",
    .folder = "ar",
    .name = "المقررات للطلاب الدوليين",
    .about = "نقدم هنا ستة مقررات، ولكل مقرر تعريف وخطة وأجوبة عن الأسئلة الشائعة. إذا كان لديك سؤال آخر فاكتب إلى "
             "مكتب الطلاب الدوليين.\n"
             "المكتب مفتوح كل صباح، وبعد الظهر نأخذ الطلاب الجدد في جولة إلى المكتبة والميناء.\n",
    SUBJECTS(muqarrar),
    ASPECTS(muqarrar_aspects),
};
